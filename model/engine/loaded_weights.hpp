// The weights of a model that an engine loads.
#pragma once

#include <compare>

#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine.hpp"

namespace headroom::model {

/// True if `engine` loads `model` without the towers of images and sound that it has.
/// Source: the engine's row, WeightPolicy::towers.
bool leaves_towers_out(const Engine& engine, const Model& model);

/// How an engine changes a model as it loads it.
struct LoadedForm {
  bool without_towers = false;  ///< leaves out the towers of images and sound that it has
  bool modules_alone = false;   ///< leaves experts that one parameter stacks in 16 bit
  auto operator<=>(const LoadedForm&) const = default;
};

/// The form in which `engine` loads `model` in `scheme` (model/engine/loaded_scheme.hpp). A model
/// that has a form already needs no change.
/// Source: the engine's row, WeightPolicy::towers and WeightPolicy::modules_alone.
LoadedForm loaded_form(const Engine& engine, const Model& model, const Scheme& scheme);

/// `model` with the changes of `form`.
Model in_form(const Model& model, LoadedForm form);

/// `model` in `scheme` as `engine` loads it. It owns the model that it names if the engine changes
/// that.
QuantisedModel loaded_weights(const Model& model, const Scheme& scheme, const Engine& engine);

}  // namespace headroom::model
