// Between assignments and the names of modules that accelerate and transformers know.
#pragma once

#include "model/checkpoint/model.hpp"
#include "model/infer/placement/assignment.hpp"
#include "model/infer/placement/mapper.hpp"

namespace headroom::model {

/// The device map of `assignment`. Every tensor lies below exactly one entry, and the number of
/// entries is minimal. from_pretrained(device_map=...) takes it unchanged.
DeviceMap device_map_of(const ModuleTree& tree, const Model& model, const Assignment& assignment);

/// Device of each layer, the embedding and the head in a map: that of its largest tensor. Throws
/// std::invalid_argument, naming the layer, if a map splits a layer other than into experts and the
/// rest.
Assignment assignment_of(const Model& model, const DeviceMap& map);

/// True if an entry lies inside a module with all experts of a layer in one tensor, as in
/// transformers since version 5. Entries above it are equal in version 4.
bool names_fused_experts(const Model& model, const DeviceMap& map);

/// The oldest version of transformers, up to 5.23, in which the names of a map are known to match
/// the model's modules. Empty for a class that was not compared in other versions.
std::string_view names_since(const Model& model, const DeviceMap& map);

}  // namespace headroom::model
