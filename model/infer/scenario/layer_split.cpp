#include "model/infer/scenario/layer_split.hpp"

#include <algorithm>

#include "model/checkpoint/model.hpp"

namespace headroom::model {

Size tower_layers(const Model& model) {
  return model.encoder_decoder ? 0 : model.profile.first_decoding;
}

Range counted_layers(const Model& model) {
  return {tower_layers(model), model.profile.end_decoding};
}

Size counted_layers(const Model& model, Range layers) {
  return intersect(layers, counted_layers(model)).size();
}

}  // namespace headroom::model
