// The machine that flags describe: by name, by device and host, or by figures alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/machine.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// Every flag that this file reads, for the lists of commands.
#define HEADROOM_MACHINE_FLAGS                                                               \
  "machine device count host gpu-memory gpu-bandwidth gpu-tflops cpu ram ram-bandwidth bus " \
  "card-link disk disk-read hardware"

/// Flags that describe a card by its figures.
inline constexpr std::string_view figures_of_card[] = {"gpu-memory", "gpu-bandwidth", "gpu-tflops"};
/// Flags that replace figures of one host.
inline constexpr std::string_view figures_of_host[] = {"cpu",       "ram",  "ram-bandwidth", "bus",
                                                       "card-link", "disk", "disk-read"};

/// The shipped rows with the user's --hardware files laid over them.
std::shared_ptr<const Catalogue> catalogue_of(const std::vector<std::string>& files);

/// Memory that no other program uses now.
struct FreeMemory {
  std::vector<std::optional<Bytes>> cards;  ///< nothing: not known
  Bytes ram;
};
struct GivenMachine {
  Machine machine;
  std::optional<FreeMemory> free;    ///< free memory of this computer, if all of it is meant
  std::vector<std::string> assumed;  ///< values that were not given, with their origin
  std::string asked;                 ///< flags that describe it again: " --machine rtx-4090"
};
/// Nothing where no machine is given. Throws UsageError for flags that exclude each other or would
/// have no effect, and what parse_machine and specified_machine throw.
std::optional<GivenMachine> machine_of(const Options& options);
/// As above, but with only the free memory of this computer, if the machine is this computer.
std::optional<GivenMachine> free_machine_of(const Options& options);

}  // namespace headroom::sweep
