#include "model/infer/scenario/layer_split.hpp"

#include <algorithm>

#include "model/checkpoint/model.hpp"

namespace headroom::model {

Size tower_layers(const Model& model) {
  return model.encoder_decoder ? 0 : model.profile.first_decoding;
}

Size counted_layers(const Model& model, Range layers) {
  return std::max<Size>(0, layers.last - std::max(layers.first, tower_layers(model)));
}

}  // namespace headroom::model
