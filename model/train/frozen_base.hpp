// Frozen weights beside adapters: how programs load them, and the recipe that follows.
#pragma once

#include "model/train/runtime.hpp"

namespace headroom::model {

/// Weights are trained, or adapters over frozen ones.
enum class Trained : std::uint8_t { weights, adapters, adapters_over_quantised };
/// The default weight format. Next to adapters, weights are frozen in 16 bit unless PEFT raises
/// what is not quantised; otherwise the runtime and its sharding decide.
const Recipe& usual_recipe(const TrainingRuntime& runtime, int zero, Trained what);

/// The default recomputation: the runtime's, or all layers where PEFT prepares the base (PEFT 0.21
/// utils/other.py prepare_model_for_kbit_training: use_gradient_checkpointing=True).
Recomputation usual_recomputation(const TrainingRuntime& runtime, const Recipe& recipe);

/// Weights frozen in a scheme of bitsandbytes, as the runtime loads them, and `raised`.
QuantisedModel frozen_base(const Model& model, const TrainingRuntime& runtime,
                           std::string_view scheme_name = "nf4");
/// True for layers of LLM.int8, which keep their inputs for backward (bitsandbytes 0.50
/// autograd/_functions.py, MatMul8bitLt.forward: ctx.tensors).
bool keeps_inputs(const QuantisedModel& base);
/// The base with what is not quantised in fp32.
QuantisedModel raised(const QuantisedModel& base);

}  // namespace headroom::model
