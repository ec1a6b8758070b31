#include "model/engine/loaded_weights.hpp"

#include <memory>

#include "model/checkpoint/modules_alone.hpp"
#include "model/checkpoint/text_only.hpp"

namespace headroom::model {

bool leaves_towers_out(const Engine& engine, const Model& model) {
  return engine.weights.towers == Towers::left_out && !model.text_only && has_towers(model);
}

LoadedForm loaded_form(const Engine& engine, const Model& model, const Scheme& scheme) {
  return {.without_towers = leaves_towers_out(engine, model),
          .modules_alone = scheme.family == SchemeFamily::bitsandbytes &&
                           engine.weights.modules_alone && !model.modules_alone &&
                           stacks_experts(model)};
}

Model in_form(const Model& model, LoadedForm form) {
  Model made = form.without_towers ? without_towers(model) : model;
  made.modules_alone = made.modules_alone || form.modules_alone;
  return made;
}

QuantisedModel loaded_weights(const Model& model, const Scheme& scheme, const Engine& engine) {
  const LoadedForm form = loaded_form(engine, model, scheme);
  if (form == LoadedForm{}) return quantise(model, scheme);
  const auto made = std::make_shared<const Model>(in_form(model, form));
  QuantisedModel weights = quantise(*made, scheme);
  weights.owned_model = made;
  return weights;
}

}  // namespace headroom::model
