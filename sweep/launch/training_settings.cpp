#include "sweep/launch/training_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "hardware/quantity_text.hpp"
#include "hardware/units.hpp"
#include "model/train/matrix_format.hpp"
#include "sweep/launch/script.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

struct NamedOptimizer {
  std::string_view optimizer, name, arguments;
};
/// Rows of model/train/optimizer.hpp that are the very class, with these arguments.
constexpr auto optimizer_table = std::to_array<NamedOptimizer>({
    {"adamw", "adamw_torch_fused", ""},
    {"adamw-fused", "adamw_torch_fused", ""},
    {"adamw-foreach", "adamw_torch", ""},
    {"sgd", "sgd", ""},
    {"sgd-momentum", "sgd", "momentum=0.9"},
    {"nesterov", "sgd", "momentum=0.9,nesterov=true"},
    {"adagrad", "adagrad", ""},
    {"rmsprop", "rmsprop", ""},
    {"rmsprop-centered", "rmsprop", "centered=true"},
    {"rmsprop-momentum", "rmsprop", "momentum=0.9"},
    {"rmsprop-momentum-centered", "rmsprop", "momentum=0.9,centered=true"},
    {"adafactor", "adafactor", ""},
    {"adamw-8bit", "adamw_bnb_8bit", ""},
    {"paged-adamw-8bit", "paged_adamw_8bit", ""},
    {"paged-adamw-32bit", "paged_adamw_32bit", ""},
    {"paged-adamw", "paged_adamw_32bit", ""},
    {"ademamix", "ademamix", ""},
    {"ademamix-8bit", "ademamix_8bit", ""},
    {"paged-ademamix", "paged_ademamix_32bit", ""},
    {"paged-ademamix-8bit", "paged_ademamix_8bit", ""},
    {"lion-32bit", "lion_32bit", ""},
    {"lion-8bit", "lion_8bit", ""},
    {"paged-lion", "paged_lion_32bit", ""},
    {"paged-lion-32bit", "paged_lion_32bit", ""},
    {"paged-lion-8bit", "paged_lion_8bit", ""},
    {"rmsprop-32bit", "rmsprop_bnb_32bit", ""},
    {"rmsprop-8bit", "rmsprop_bnb_8bit", ""},
    {"adamw-torch-8bit", "adamw_torch_8bit", ""},
    {"schedule-free", "schedule_free_adamw", ""},
    {"schedule-free-sgd", "schedule_free_sgd", ""},
    {"galore", "galore_adamw", ""},
    {"galore-adafactor", "galore_adafactor", ""},
    {"apollo", "apollo_adamw", ""},
});

struct ShardingRow {
  std::string_view runtime;
  Sharding alone, shared;  ///< without and with a ZeRO stage
};
constexpr ShardingRow sharding_table[] = {
    {"trainer", Sharding::none, Sharding::deepspeed},
    {"llama-factory", Sharding::none, Sharding::deepspeed},
    {"deepspeed", Sharding::deepspeed, Sharding::deepspeed},
    {"fsdp", Sharding::fsdp1, Sharding::fsdp1},
    {"fsdp2", Sharding::fsdp2, Sharding::fsdp2},
};

/// Recipes that the Trainer keeps under each kind of sharding.
std::string_view recipes_of(Sharding sharding) {
  if (sharding == Sharding::none) return "autocast pure-16bit fp32";
  if (sharding == Sharding::deepspeed) return "fp32-master fp32-gradients fp32";
  return "sharded-fp32 fp32";
}

void refuse_recipe(const TrainingPoint& point) {
  const model::TrainingScenario& s = point.step();
  const Sharding sharding = sharding_of(s);
  if (s.adapter != nullptr) {
    if (is_fsdp(sharding))
      throw std::invalid_argument(
          "adapters in fp32 over frozen weights in 16 bit are not written for FSDP: --runtime "
          "trainer or deepspeed");
    return;
  }
  const std::string known = fmt::format(" {} ", recipes_of(sharding));
  if (known.find(fmt::format(" {} ", s.recipe->name)) == std::string::npos)
    throw std::invalid_argument(fmt::format("the recipe {} is not kept {}: --recipe {}",
                                            s.recipe->name,
                                            sharding == Sharding::none        ? "by the Trainer"
                                            : sharding == Sharding::deepspeed ? "by DeepSpeed"
                                                                              : "by FSDP",
                                            recipes_of(sharding)));
}

void refuse_parallelism(const model::TrainingScenario& s, Settings settings) {
  const model::Parallelism& p = s.parallel;
  if (p.sequence)
    throw std::invalid_argument("--sequence-parallel true has no setting in this file");
  const Size tensor = settings.tensor_parallel ? 1 : p.tensor;
  for (const auto& [flag, degree] : {std::pair{"tp", tensor},
                                     {"pp", p.stages},
                                     {"cp", p.context},
                                     {"ep", p.experts},
                                     {"virtual-stages", p.chunks}})
    if (degree > 1)
      throw std::invalid_argument(fmt::format(
          "--{} {} has no setting in this file: data parallel alone (--dp, --zero)", flag, degree));
}

}  // namespace

Sharding sharding_of(const model::TrainingScenario& step) {
  const auto* row = std::ranges::find(sharding_table, step.runtime->name, &ShardingRow::runtime);
  if (row == std::end(sharding_table))
    throw std::invalid_argument(
        fmt::format("nothing is written for {}: --runtime trainer, deepspeed, fsdp, fsdp2 or "
                    "llama-factory",
                    step.runtime->name));
  return step.zero > 0 ? row->shared : row->alone;
}

void refuse_unwritten(const TrainingPoint& point, Settings settings) {
  const model::TrainingScenario& s = point.step();
  refuse_recipe(point);
  refuse_parallelism(s, settings);
  const auto refuse = [](bool given, std::string_view what) {
    if (given) throw std::invalid_argument(std::string(what));
  };
  refuse(s.matrices != nullptr,
         "matrices below 16 bit have no setting in this file: --precision "
         "bf16, fp16 or fp32");
  refuse(s.recomputation == model::Recomputation::selective,
         "the Trainer recomputes whole layers: --checkpointing full or none");
  refuse(s.recomputation == model::Recomputation::offloaded && !settings.inputs_on_host,
         "this file has no layers' inputs in host memory: --checkpointing full, or axolotl's file");
  refuse(s.recipe->over_quantised &&
             !(settings.prepares_base && s.recipe->raises_rest && s.recipe->autocast),
         settings.prepares_base
             ? "the script has mixed precision, and PEFT raises all the rest: --recipe raised"
             : "this file leaves what is not quantised in 16 bit: --recipe pure-16bit");
  refuse(s.images.count > 0 || s.tower_frozen, "images and their tower are not part of this file");
  refuse(s.document > 0, "--packing has no setting in this file: documents would attend to others");
}

OptimizerWords optimizer_words(const TrainingPoint& point) {
  const std::string_view asked = point.step().optimizer->name();
  const auto* row = std::ranges::find(optimizer_table, asked, &NamedOptimizer::optimizer);
  if (row == optimizer_table.end())
    throw std::invalid_argument(
        fmt::format("the Trainer has no optimizer {} as it is estimated", asked));
  return {row->name, row->arguments};
}

std::string_view loaded_type(const TrainingPoint& point) {
  const model::Recipe& recipe = *point.step().recipe;
  if (recipe.weight == 4 && !recipe.over_quantised) return "float32";
  return point.given.precision == "fp16" || point.given.precision == "float16" ? "float16"
                                                                               : "bfloat16";
}

std::string_view mixed_type(const TrainingPoint& point) {
  const model::TrainingScenario& s = point.step();
  const bool pure = s.recipe->name == "pure-16bit" && s.adapter == nullptr;
  if (pure || s.recipe->name == "fp32") return {};
  return point.given.precision == "fp16" || point.given.precision == "float16" ? "fp16" : "bf16";
}

Size steps_of(const TrainingPoint& point) {
  const model::TrainingScenario& s = point.step();
  const Size tokens = s.parallel.replicas * s.batch * s.accumulated * s.sequence;
  return divided_up(point.given.token_budget, tokens);
}

std::string checkpoint_of(const TrainingPoint& point) {
  const model::Model& m = point.model();
  const model::Scheme& held = model::scheme(m.checkpoint_scheme);
  if (held.family != model::SchemeFamily::plain)
    throw std::invalid_argument(
        fmt::format("the checkpoint is in {}: training needs one in 16 bit", held.name));
  return m.repository.empty() ? m.name : m.repository;
}

boost::json::object fsdp_config(const TrainingPoint& point) {
  const model::TrainingScenario& s = point.step();
  const bool second = sharding_of(s) == Sharding::fsdp2;
  boost::json::object config{{"version", second ? 2 : 1}};
  if (second)
    config["reshard_after_forward"] = true;
  else
    config["reshard_after_forward"] = "full_shard";
  config["auto_wrap_policy"] = "TRANSFORMER_BASED_WRAP";
  config["cpu_offload"] = s.parameters_on_host;
  config["activation_checkpointing"] = s.recomputation == model::Recomputation::full;
  config["cpu_ram_efficient_loading"] = true;
  config["state_dict_type"] = "SHARDED_STATE_DICT";
  return config;
}

std::string_view attention_word(const model::TrainingScenario& step) {
  const model::AttentionSupport has = model::attention_support(*step.model);
  if (step.attention == model::AttentionKernel::flash_attention && has.sinks)
    return "kernels-community/vllm-flash-attn3";
  if (step.attention == model::AttentionKernel::sdpa && !has.sdpa) return "eager";
  return model::name_of(step.attention);
}

std::string expected(const TrainingPoint& point) {
  const model::TrainingEstimate& e = point.answer.memory;
  std::string text = fmt::format("Expected on the fullest card: {} ({} to {})", to_text(e.peak),
                                 to_text(e.peak_low), to_text(e.peak_high));
  if (point.answer.time)
    text +=
        fmt::format("; a step takes {}, {} tokens/s", duration(point.answer.time->total().value()),
                    three_digits(point.answer.time->tokens_s));
  return comment(fmt::format("Training {} on {}: {}.", point.model().name,
                             point.given.machine->name,
                             is_tight(point.given, e.peak) ? "tight" : "fits")) +
         comment(text + '.');
}

}  // namespace headroom::sweep
