#include "model/infer/scenario/layer_split.hpp"

#include <iterator>

#include "model/checkpoint/model.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine.hpp"
#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

bool keeps_experts_in_host(const Scenario& s) {
  return s.runtime->offload.experts_on_cpu_by_default &&
         s.weights->model->profile.routing.experts > 0;
}

bool shares_rows(const Scenario& s) {
  return s.layer_split != nullptr && s.layer_split->mode == SplitMode::row;
}

Size tower_layers(const Model& model) {
  const bool text_alone = model.encoder_decoder || !model.profile.generative;
  return text_alone ? 0 : model.profile.first_decoding;
}

Range counted_layers(const Model& model) {
  if (!model.profile.generative) return {0, std::ssize(model.profile.layers)};
  return {tower_layers(model), model.profile.end_decoding};
}

Size counted_layers(const Model& model, Range layers) {
  return intersect(layers, counted_layers(model)).size();
}

}  // namespace headroom::model
