// Between assignments and the names of modules that accelerate and transformers know.
#pragma once

#include "model/checkpoint/model.hpp"
#include "model/infer/placement/assignment.hpp"
#include "model/infer/placement/mapper.hpp"

namespace headroom::model {

/// The map that says the same as `assignment`: every tensor lies below exactly one entry, and
/// entries are as few as can be. from_pretrained(device_map=...) takes it as it is.
DeviceMap device_map_of(const ModuleTree& tree, const Model& model, const Assignment& assignment);

/// What a map says of each layer, the embedding and the head: the place of the largest tensor of
/// each. Throws std::invalid_argument, naming the layer, for a map that splits a layer otherwise
/// than in its experts and the rest.
Assignment assignment_of(const Model& model, const DeviceMap& map);

/// Whether an entry lies inside a module that holds all experts of a layer in one tensor, as
/// transformers has it since version 5; entries above it are the same in version 4.
bool names_fused_experts(const Model& model, const DeviceMap& map);

/// The oldest version of transformers from which on, to 5.23, the names of a map are known to be
/// those of the model's modules; empty for a class that was not looked at in other versions.
std::string_view names_since(const Model& model, const DeviceMap& map);

}  // namespace headroom::model
