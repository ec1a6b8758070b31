// Settings of a training step in the words of transformers, which other programs share.
#pragma once

#include <string>
#include <string_view>

#include "sweep/launch/training.hpp"

namespace headroom::sweep {

/// Who divides states, gradients and weights over cards.
enum class Sharding { none, deepspeed, fsdp1, fsdp2 };
Sharding sharding_of(const model::TrainingScenario& step);
constexpr bool is_fsdp(Sharding sharding) {
  return sharding == Sharding::fsdp1 || sharding == Sharding::fsdp2;
}

/// Settings that a file has beyond those of every file.
struct Settings {
  bool inputs_on_host = false;   ///< layers' inputs in host memory
  bool tensor_parallel = false;  ///< DeepSpeed's AutoTP
  bool prepares_base = false;    ///< PEFT prepares a quantised base
};

/// Throws std::invalid_argument for what the Trainer and programs around it have no setting for.
void refuse_unwritten(const TrainingPoint& point, Settings settings = {});

/// The name of an optimizer for TrainingArguments(optim=), and its optim_args. Source: transformers
/// 5.17 training_args.py OptimizerNames, trainer_optimizer.py.
struct OptimizerWords {
  std::string_view name, arguments{};
};
/// Throws std::invalid_argument where the Trainer does not have it.
OptimizerWords optimizer_words(const TrainingPoint& point);

/// The type that weights are loaded in: "bfloat16", "float16" or "float32".
std::string_view loaded_type(const TrainingPoint& point);
/// The type of products where it is not the weights': "bf16", "fp16"; empty: none.
std::string_view mixed_type(const TrainingPoint& point);

/// transformers' attn_implementation. Sinks have a kernel of their own version, and a class without
/// SDPA is not asked for it (transformers 5.24 modeling_utils.py raises an error).
std::string_view attention_word(const model::TrainingScenario& step);

/// Steps that --token-budget asks for; 0: none given.
Size steps_of(const TrainingPoint& point);

/// The repository or folder to load. Throws std::invalid_argument where its weights are quantised.
std::string checkpoint_of(const TrainingPoint& point);

/// DeepSpeed's configuration of a step. Throws std::invalid_argument as refuse_unwritten does.
boost::json::object deepspeed_config(const TrainingPoint& point);

/// FSDP's settings under the Trainer's names. Throws std::invalid_argument as refuse_unwritten
/// does.
boost::json::object fsdp_config(const TrainingPoint& point);

/// "Fits", the peak and the time of a step, as comment lines.
std::string expected(const TrainingPoint& point);

}  // namespace headroom::sweep
