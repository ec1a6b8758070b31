#include "model/checkpoint/text_only.hpp"

#include <algorithm>

#include "model/checkpoint/quantisation/stored.hpp"
#include "model/describe/components.hpp"

namespace headroom::model {

bool has_towers(const Model& model) {
  if (model.encoder_decoder || !model.profile.generative) return false;
  const auto sums = components_of(model.part, model.profile);
  return sums[static_cast<std::size_t>(Component::vision)] +
             sums[static_cast<std::size_t>(Component::audio)] >
         0;
}

Model without_towers(const Model& model) {
  Model text = model;
  text.part = without_towers(model.part, model.profile);
  text.profile = profile_of(text.part, model.shape.hidden_size);
  text.images = {};
  text.text_only = true;
  if (model.stored && model.stored->detail == Detail::tensors) {
    text.stored = nullptr;
    attach(text, model.stored->list, Detail::tensors);
    text.checkpoint_scheme = model.checkpoint_scheme;
  }
  return text;
}

}  // namespace headroom::model
