// The places of layers in a measured run of transformers: device_map="auto" over the cards it was
// given.
#pragma once

#include <optional>

#include "model/infer/placement/assignment.hpp"

namespace headroom::sweep {

/// The map of accelerate's balanced policy. Its budgets are each card's memory after the driver's
/// context, and host memory after the process. Source: accelerate 1.15 utils/modeling.py
/// get_max_memory, get_balanced_memory, infer_auto_device_map. Nothing where the mapper fails or
/// splits a layer.
std::optional<model::Assignment> auto_map(const model::Scenario& scenario);

}  // namespace headroom::sweep
