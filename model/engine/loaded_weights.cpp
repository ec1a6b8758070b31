#include "model/engine/loaded_weights.hpp"

#include <memory>
#include <utility>

#include "model/checkpoint/text_only.hpp"

namespace headroom::model {

bool leaves_towers_out(const Engine& engine, const Model& model) {
  return engine.weights.towers == Towers::left_out && !model.text_only && has_towers(model);
}

QuantisedModel loaded_weights(const Model& model, const Scheme& scheme, const Engine& engine) {
  if (!leaves_towers_out(engine, model)) return quantise(model, scheme);
  auto text = std::make_shared<const Model>(without_towers(model));
  QuantisedModel weights = quantise(*text, scheme);
  weights.text = std::move(text);
  return weights;
}

}  // namespace headroom::model
