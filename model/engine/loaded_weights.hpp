// The weights of a model that an engine loads.
#pragma once

#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine.hpp"

namespace headroom::model {

/// True if `engine` loads `model` without the towers of images and sound that it has.
/// Source: the engine's row, WeightPolicy::towers.
bool leaves_towers_out(const Engine& engine, const Model& model);

/// True if `scheme` is of bitsandbytes and `engine` quantises the linear modules of `model` alone.
/// Source: the engine's row, WeightPolicy::modules_alone.
bool leaves_stacked_experts(const Engine& engine, const Model& model, const Scheme& scheme);

/// `model` in `scheme` (model/engine/loaded_scheme.hpp), without towers that `engine` leaves out.
/// It owns the model that it names if the engine changes that.
QuantisedModel loaded_weights(const Model& model, const Scheme& scheme, const Engine& engine);

}  // namespace headroom::model
