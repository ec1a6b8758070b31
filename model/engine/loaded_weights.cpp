#include "model/engine/loaded_weights.hpp"

#include <memory>

#include "model/checkpoint/modules_alone.hpp"
#include "model/checkpoint/text_only.hpp"

namespace headroom::model {

bool leaves_towers_out(const Engine& engine, const Model& model) {
  return engine.weights.towers == Towers::left_out && !model.text_only && has_towers(model);
}

bool leaves_stacked_experts(const Engine& engine, const Model& model, const Scheme& scheme) {
  return scheme.family == SchemeFamily::bitsandbytes && engine.weights.modules_alone &&
         !model.modules_alone && stacks_experts(model);
}

QuantisedModel loaded_weights(const Model& model, const Scheme& scheme, const Engine& engine) {
  const bool towers = !leaves_towers_out(engine, model);
  const bool stacked = leaves_stacked_experts(engine, model, scheme);
  if (towers && !stacked) return quantise(model, scheme);
  const auto text = std::make_shared<Model>(towers ? model : without_towers(model));
  text->modules_alone = text->modules_alone || stacked;
  QuantisedModel weights = quantise(*text, scheme);
  weights.text = text;
  return weights;
}

}  // namespace headroom::model
