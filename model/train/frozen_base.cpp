#include "model/train/frozen_base.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "model/checkpoint/modules_alone.hpp"
#include "model/checkpoint/quantisation/tensor_index.hpp"
#include "model/train/training.hpp"

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

QuantisedModel frozen_base(const Model& model, const TrainingRuntime& runtime,
                           std::string_view scheme_name) {
  const auto made = runtime.modules_alone && stacks_experts(model)
                        ? std::make_shared<const Model>(with_modules_alone(model))
                        : nullptr;
  QuantisedModel weights = quantise_alone(TensorIndex(made ? *made : model), scheme(scheme_name));
  weights.owned_model = made;
  if (weights.refusal.empty())
    weights.raised = std::make_shared<const QuantisedModel>(raised(weights));
  return weights;
}

bool keeps_inputs(const QuantisedModel& base) { return base.scheme->format == "int8"; }

const Recipe& usual_recipe(const TrainingRuntime& runtime, int zero, Trained what) {
  if (what == Trained::weights) return recipe(zero > 0 ? runtime.shared_recipe : runtime.recipe);
  const bool prepared = what == Trained::adapters_over_quantised && runtime.raises_base;
  return recipe(prepared ? "raised" : "pure-16bit");
}

Recomputation usual_recomputation(const TrainingRuntime& runtime, const Recipe& recipe) {
  return recipe.over_quantised ? std::max(runtime.recomputation, Recomputation::full)
                               : runtime.recomputation;
}

void check_base(const TrainingScenario& s) {
  const auto refuse = [](std::string text) {
    throw ImpossibleStep(Reason::precision_unsupported, text);
  };
  // PEFT 0.21 docs/source/accelerate/deepspeed.md: bnb_4bit_quant_storage, which 8 bit lacks
  if (s.base != nullptr && keeps_inputs(*s.base) && s.zero >= 3)
    refuse("weights in 8 bit are not divided (ZeRO 3, FSDP), those in 4 bit are");
  if (!s.recipe->over_quantised) return;
  const auto refuse_recipe = [&](std::string_view what) {
    refuse(fmt::format("the recipe {} is {}; pure-16bit is another recipe", s.recipe->name, what));
  };
  if (s.base == nullptr) refuse_recipe("for a quantised base");
  // DeepSpeed 0.16 runtime/engine.py _configure_distributed_model; FSDP has one type in a layer
  if (runs_deepspeed(*s.runtime) || s.zero > 0)
    refuse_recipe("not for DeepSpeed and FSDP, which hold all weights in 16 bit");
}

}  // namespace headroom::model
