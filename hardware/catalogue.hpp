// The shipped rows of devices and hosts, and the user's own that override them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hardware/device.hpp"
#include "hardware/host.hpp"

namespace headroom {

/// Devices and hosts by name. Rows read later replace rows of the same name.
struct Catalogue {
  std::vector<Device> devices;
  std::vector<Host> hosts;
  std::string default_host;  ///< of a machine without "@" whose first card names none

  /// Case, separators, makers and the order of words do not matter, and a size of memory may be
  /// added: "NVIDIA A100 80GB PCIe", "4090", "T4 16GB". Throws UnknownName with the nearest names;
  /// a name that fits several rows is an error that lists them.
  const Device& device(std::string_view name) const;
  const Host& host(std::string_view name) const;

  bool operator==(const Catalogue&) const = default;
};

/// The same for all spellings of a name: without case, order, separators and makers' names.
/// "4090ti" for "NVIDIA GeForce RTX 4090 Ti" and for "rtx-4090-ti".
std::string spelling(std::string_view name);

/// The rows that ship with the program. Read on the first call.
const Catalogue& shipped_catalogue();

/// `toml` (a user's file, called `file` in errors) laid over `base`.
/// Throws std::runtime_error naming file, line, key, what was found and what is allowed.
Catalogue overlay(Catalogue base, std::string_view toml, std::string_view file);

}  // namespace headroom
