// Processors that sources of measurements name, as their makers specify them.
#pragma once

#include <span>
#include <string_view>

namespace headroom::sweep {

/// Operations a cycle of a core: 64 with two pipes of 16 lanes (Intel servers and X from 2017, Zen
/// 5), 32 with two of 8, 16 with two of 4 or without fused ones (Zen 1, Intel before 2013, its
/// efficient cores up to 2023).
struct Processor {
  std::string_view written;  ///< found in a row's column "cpu", in lower case
  int cores;
  double gflops;  ///< fp32, all cores at their base clock: as of hosts (hardware/catalogue)
  int channels;   ///< of memory, of one socket
  double mts;     ///< the fastest memory that the maker specifies, million transfers a second
  double performance_gflops =
      0;  ///< of one performance core, where others are slower; 0: all alike
  double bandwidth_gbs() const { return channels * mts * 8 / 1000; }
};

std::span<const Processor> amd_processors();
std::span<const Processor> intel_processors();

/// The longest name that `cpu`, in lower case, has; null: none.
const Processor* processor_in(std::string_view cpu);

}  // namespace headroom::sweep
