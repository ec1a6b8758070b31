#include "model/checkpoint/quantisation/checkpoint_bytes.hpp"

#include "model/checkpoint/predictor.hpp"
#include "model/checkpoint/quantisation/further_modules.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/checkpoint/quantisation/stored.hpp"

namespace headroom::model {

Model with_further_modules(const Model& model) {
  Model all = model;
  const std::vector<Module> modules = predictor_modules(model);
  all.part.modules.insert(all.part.modules.end(), modules.begin(), modules.end());
  for (Tensor tensor : model.multi_token_prediction.part.tensors) {
    tensor.tied_to = {};
    all.part.tensors.push_back(std::move(tensor));
  }
  all.profile.repeats = repeats_of(all.part, all.profile);
  return all;
}

Bytes checkpoint_bytes(const Model& model) {
  const Scheme& own = scheme(model.checkpoint_scheme);
  if (keeps_checkpoint_formats(model, own)) return model.stored->list.total;
  const Model all = with_further_modules(model);
  const std::vector<Bytes> bytes = quantised_bytes(all, own);
  Bytes sum;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (all.part.tensors[i].is_parameter() || all.part.tensors[i].persistent) sum += bytes[i];
  return sum;
}

}  // namespace headroom::model
