#include "model/train/frozen_base.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "model/checkpoint/modules_alone.hpp"
#include "model/checkpoint/quantisation/tensor_index.hpp"

namespace headroom::model {

QuantisedModel raised(const QuantisedModel& base) {
  static const std::vector<Scheme> wide = [] {
    std::vector<Scheme> made(schemes().begin(), schemes().end());
    for (Scheme& scheme : made) scheme.rest = "fp32";
    return made;
  }();
  return quantise_alone(TensorIndex(*base.model),
                        *std::ranges::find(wide, base.scheme->name, &Scheme::name));
}

QuantisedModel frozen_base(const Model& model, const TrainingRuntime& runtime) {
  const auto made = runtime.modules_alone && stacks_experts(model)
                        ? std::make_shared<const Model>(with_modules_alone(model))
                        : nullptr;
  QuantisedModel weights = quantise_alone(TensorIndex(made ? *made : model), scheme("nf4"));
  weights.owned_model = made;
  if (weights.refusal.empty())
    weights.raised = std::make_shared<const QuantisedModel>(raised(weights));
  return weights;
}

const Recipe& usual_recipe(const TrainingRuntime& runtime, int zero, Trained what) {
  if (what == Trained::weights) return recipe(zero > 0 ? runtime.shared_recipe : runtime.recipe);
  const bool prepared = what == Trained::adapters_over_4_bit && runtime.raises_base;
  return recipe(prepared ? "raised" : "pure-16bit");
}

Recomputation usual_recomputation(const TrainingRuntime& runtime, const Recipe& recipe) {
  return recipe.over_quantised ? std::max(runtime.recomputation, Recomputation::full)
                               : runtime.recomputation;
}

}  // namespace headroom::model
