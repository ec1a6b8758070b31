// accelerate's `max_memory`: how much each device may hold, weights and buffers only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/infer/placement/module_tree.hpp"

namespace headroom::model {

/// accelerate's memory strings: "6GiB", "35GB", "40Gb" (a lower-case last b on decimal units means
/// bits), or a bare number of bytes. Throws std::invalid_argument that says what would have worked.
Bytes parse_accelerate_memory(std::string_view text);

/// One device of a map: "0", "1", "mps", "cpu" or "disk", with what it may hold.
struct DeviceMemory {
  std::string device;
  Eighths limit = 0;
  bool given = true;  ///< false: the disk, which is there anyway
  bool is_gpu() const { return device[0] >= '0' && device[0] <= '9'; }
};

/// Devices in the order in which they are filled: GPUs ascending, then mps, cpu, disk (always
/// there, always unlimited).
using MaxMemory = std::vector<DeviceMemory>;

/// From "0=6GiB", "cpu=25GiB", … Throws std::invalid_argument for an entry that is garbled,
/// negative or given twice.
MaxMemory parse_max_memory(std::span<const std::string> entries);

}  // namespace headroom::model
