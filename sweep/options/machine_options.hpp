// The machine that flags describe: by name, by device and host, or by figures alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hardware/machine.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// Every flag that this file reads, for the lists of commands.
#define HEADROOM_MACHINE_FLAGS                                                                     \
  "machine device count host gpu-memory gpu-bandwidth gpu-tflops ram ram-bandwidth bus card-link " \
  "disk disk-read hardware"

/// The shipped rows with the user's --hardware files (`also` first) laid over them.
Catalogue catalogue_of(const std::vector<std::string>& files);

/// Memory that no other program uses now.
struct FreeMemory {
  std::vector<std::optional<Bytes>> cards;  ///< nothing: not known
  Bytes ram;
};
struct GivenMachine {
  Machine machine;
  std::optional<FreeMemory> free;    ///< of this computer, where all of it is meant
  std::vector<std::string> assumed;  ///< what was not given, and where it comes from
};
/// Nothing where no machine is given. Throws UsageError for flags that exclude each other or would
/// have no effect, and what parse_machine and specified_machine throw.
std::optional<GivenMachine> machine_of(const Options& options);
/// The same, with only what is free now of the memory of this computer, where it is meant.
std::optional<GivenMachine> free_machine_of(const Options& options);

}  // namespace headroom::sweep
