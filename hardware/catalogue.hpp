// Devices, processors and hosts that ship with the program, and the user's rows that override them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hardware/device.hpp"
#include "hardware/host.hpp"
#include "hardware/processor.hpp"

namespace headroom {

/// Devices, processors and hosts by name. A row read later replaces an earlier row of the same
/// name.
struct Catalogue {
  std::vector<Device> devices;
  std::vector<Processor> processors;
  std::vector<Host> hosts;
  std::string default_host;  ///< host of a machine without "@" whose first card names no host

  /// Finds a row by any spelling. Case, separators, maker and word order do not matter. The name
  /// may include a memory size: "NVIDIA A100 80GB PCIe", "4090", "T4 16GB". Throws UnknownName with
  /// the nearest names. A name that fits several rows is an error that lists them.
  const Device& device(std::string_view name) const;
  const Host& host(std::string_view name) const;
  /// As above. The words may also be a part of the name or title that only one row has: "7950X".
  /// The words that Linux adds to a name do not matter: "AMD EPYC 7742 64-Core Processor".
  const Processor& processor(std::string_view name) const;

  bool operator==(const Catalogue&) const = default;
};

/// Key that is equal for all spellings of a name. It drops case, order, separators and makers.
/// "NVIDIA GeForce RTX 4090 Ti" and "rtx-4090-ti" both give "4090ti".
std::string spelling(std::string_view name);

/// The rows that ship with the program. Read on the first call.
const Catalogue& shipped_catalogue();

/// Overlays `toml`, a user's file called `file` in errors, on `base`. Throws std::runtime_error
/// naming file, line, key, what was found and what is allowed.
Catalogue overlay(Catalogue base, std::string_view toml, std::string_view file);

}  // namespace headroom
