// Processors that sources of measurements name, as their makers specify them.
#pragma once

#include <string_view>

namespace headroom::sweep {

struct Processor {
  std::string_view written;  ///< found in a row's column "cpu", in lower case
  int cores;
  double gflops;  ///< fp32, all cores at their base clock: as of hosts (hardware/catalogue)
  int channels;   ///< of memory, of one socket
  double mts;     ///< the fastest memory that the maker specifies, million transfers a second
  double bandwidth_gbs() const { return channels * mts * 8 / 1000; }
};

/// The longest name that `cpu`, in lower case, has; null: none.
const Processor* processor_in(std::string_view cpu);

}  // namespace headroom::sweep
