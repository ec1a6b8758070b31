// DeepSpeed's JSON configuration of a training step. Keys: DeepSpeed 0.19 runtime/config.py,
// runtime/zero/config.py, runtime/zero/offload_config.py.
#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>

#include "sweep/launch/training_settings.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;

struct OwnOptimizer {
  std::string_view optimizer, type;
};
/// DeepSpeed's own, which keep the states of these rows. Source: runtime/engine.py
/// _configure_basic_optimizer.
constexpr auto own_optimizers = std::to_array<OwnOptimizer>(
    {{"adamw", "AdamW"}, {"adamw-fused", "AdamW"}, {"adagrad", "Adagrad"}});

/// "optimizer" for DeepSpeed's own; else the Trainer's is allowed.
void add_optimizer(const TrainingPoint& point, json::object& config) {
  const model::TrainingScenario& s = point.step();
  for (const OwnOptimizer& row : own_optimizers) {
    if (row.optimizer != s.optimizer->name() || (row.type == "Adagrad" && !s.optimizer_on_host))
      continue;
    config["optimizer"] = json::object{{"type", row.type}, {"params", json::object{{"lr", 5e-5}}}};
    return;
  }
  optimizer_words(point);
  if (s.optimizer_on_host)
    throw std::invalid_argument(
        fmt::format("DeepSpeed has no {} on the host: --optimizer adamw", s.optimizer->name()));
  config["zero_allow_untested_optimizer"] = true;
}

json::object offload(bool on_disk) {
  json::object to{{"device", on_disk ? "nvme" : "cpu"}, {"pin_memory", true}};
  if (on_disk) to["nvme_path"] = "./offload";
  return to;
}

/// Buckets as the estimate has them. For the Trainer these are transformers' own "auto" values:
/// source transformers 5.17 integrations/deepspeed.py, trainer_config_finalize.
json::object zero_config(const TrainingPoint& point) {
  const model::TrainingScenario& s = point.step();
  const Size hidden = point.model().shape.hidden_size;
  const bool stated = s.runtime->reduce_elements > 0;
  json::object zero{{"stage", s.zero}};
  if (s.zero == 0) return zero;
  zero["overlap_comm"] = true;
  zero["contiguous_gradients"] = true;
  zero["reduce_bucket_size"] = stated ? s.runtime->reduce_elements / 2 : hidden * hidden;
  if (s.optimizer_on_host) zero["offload_optimizer"] = offload(s.on_disk);
  if (s.zero < 3) return zero;
  if (s.parameters_on_host) zero["offload_param"] = offload(s.on_disk);
  if (s.runtime->subgroup_elements > 0) zero["sub_group_size"] = s.runtime->subgroup_elements;
  if (!stated) {
    zero["stage3_prefetch_bucket_size"] = hidden * hidden * 9 / 10;
    zero["stage3_param_persistence_threshold"] = 10 * hidden;
  }
  zero["stage3_gather_16bit_weights_on_model_save"] = true;
  return zero;
}

}  // namespace

json::object deepspeed_config(const TrainingPoint& point) {
  refuse_unwritten(point, {.tensor_parallel = true});
  const model::TrainingScenario& s = point.step();
  if (sharding_of(s) != Sharding::deepspeed)
    throw std::invalid_argument("nothing is shared by DeepSpeed: --runtime deepspeed or --zero");
  json::object config{{"train_micro_batch_size_per_gpu", s.batch},
                      {"gradient_accumulation_steps", s.accumulated},
                      {"gradient_clipping", 1.0}};
  for (const std::string_view type : {"bf16", "fp16"})
    config[type] = json::object{{"enabled", mixed_type(point) == type}};
  if (s.recipe->name == "fp32-gradients")
    config["data_types"] = json::object{{"grad_accum_dtype", "fp32"}};
  // DeepSpeed 0.19 runtime/tensor_parallel/config.py; transformers 5.23 trainer.py, get_tp_size
  if (s.parallel.tensor > 1)
    config["tensor_parallel"] = json::object{{"autotp_size", s.parallel.tensor}};
  add_optimizer(point, config);
  config["zero_optimization"] = zero_config(point);
  return config;
}

std::string deepspeed_training(const TrainingPoint& point) {
  return pretty(deepspeed_config(point));
}

}  // namespace headroom::sweep
