#include "model/checkpoint/modules_alone.hpp"

#include <algorithm>

#include "model/checkpoint/quantisation/matrix.hpp"

namespace headroom::model {

bool stacks_experts(const Model& model) {
  if (model.profile.routing.experts == 0) return false;
  const MatrixReader reader(model);
  return std::ranges::any_of(model.part.tensors, [&](const Tensor& tensor) {
    return reader.is_expert(tensor) && !reader.is_module(tensor);
  });
}

Model with_modules_alone(const Model& model) {
  Model made = model;
  made.modules_alone = true;
  return made;
}

}  // namespace headroom::model
