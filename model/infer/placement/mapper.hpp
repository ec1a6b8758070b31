// The device map that accelerate (or transformers 5) would make, exactly.
//
// The rules are those of accelerate 1.15.0 `infer_auto_device_map` and `get_balanced_memory`, and
// of transformers 5.23.0 integrations/accelerate.py. Corner cases are included:
//   the reserve for the largest layer on the main devices;
//   tied modules that are pulled forward;
//   splits that lose a module's own buffers;
//   the case in which accelerate itself fails.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/infer/placement/max_memory.hpp"
#include "model/infer/placement/module_tree.hpp"

namespace headroom::model {

enum class Mapper { accelerate, transformers };
enum class Policy { plain, balanced, balanced_low_0 };
enum class Fallback { no, yes };
enum class Clean { no, yes };

struct MapOptions {
  Mapper mapper = Mapper::accelerate;
  std::vector<std::string> no_split;  ///< class names that are never split
  Fallback fallback = Fallback::no;
  Clean clean = Clean::yes;
};

/// accelerate raises an error of its own here. It is an IndexError if a tied parameter's module was
/// placed already or is no module. It is a RuntimeError if a balanced policy meets a budget for
/// disk.
class AccelerateFails : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Module (or parameter) path → device; "" is the whole model. In the order of the modules.
using DeviceMap = std::vector<std::pair<std::string, std::string>>;

/// The map of nodes that have a device, by index into `memory` (-1: no entry). Entries below a
/// module become one if there are several and all have one device.
DeviceMap cleaned(const ModuleTree& tree, const MaxMemory& memory, const std::vector<int>& place);

/// get_balanced_memory: the budgets that "auto", "balanced" and "balanced_low_0" pass on. Throws
/// AccelerateFails where accelerate crashes: on a budget for the disk.
MaxMemory balanced_memory(const ModuleTree& tree, MaxMemory memory, Policy policy,
                          const MapOptions& options);

/// infer_auto_device_map with `memory` as given. Throws AccelerateFails where accelerate crashes.
DeviceMap infer_device_map(const ModuleTree& tree, const MaxMemory& memory,
                           const MapOptions& options);

}  // namespace headroom::model
