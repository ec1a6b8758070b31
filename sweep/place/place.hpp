// The two ways of `headroom place`, and what both print of a device map.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "model/infer/placement/device_map.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// --max-memory: the device map that a mapper makes of raw budgets.
int place_by_map(const Options& options);
/// A machine: strategies, the least GPU memory, and the best placement.
int place_by_strategy(const Options& options);

/// The options that both understand.
#define HEADROOM_MAPPER_FLAGS "mapper policy no-split fallback-allocation no-clean"

/// Throws UsageError for a class that the model does not have, or an option without effect.
model::MapOptions map_options(const Options& options, const model::Model& model);
model::Policy policy_of(const Options& options, std::string_view fallback);

/// Part of a map on one device.
struct Share {
  std::string device;
  model::Eighths bytes8 = 0, limit = 0;
  std::vector<Size> layers;  ///< indices of whole repeated blocks, in order
  Size modules = 0;          ///< entries of the map
};
std::vector<Share> shares_of(const model::Model& model, const model::ModuleTree& tree,
                             const model::MaxMemory& memory, const model::DeviceMap& map);

/// {"device_map", "max_memory", "bytes", "layers"}: devices that hold nothing are left out of the
/// last two.
boost::json::object map_object(const model::Model& model, const model::ModuleTree& tree,
                               const model::MaxMemory& memory, const model::DeviceMap& map);

/// Which versions of transformers the names of a map are valid for.
std::string names_note(const model::Model& model, const model::DeviceMap& map);

}  // namespace headroom::sweep
