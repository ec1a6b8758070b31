// YAML files of programs around transformers' Trainer: LLaMA-Factory, axolotl and accelerate.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "sweep/launch/training_settings.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;

/// With a point, without which YAML 1.1 reads 5e-05 as a text.
std::string yaml_number(double value) {
  return value > 0 && value < 0.1 ? fmt::format("{:.1e}", value) : fmt::format("{:.1f}", value);
}

/// JSON as YAML with one setting a line; lists are on their line.
std::string as_yaml(const json::object& object, std::string_view margin = {}) {
  std::string text;
  for (const auto& [key, value] : object)
    if (value.is_object())
      text += fmt::format("{}{}:\n{}", margin, std::string_view(key),
                          as_yaml(value.get_object(), std::string(margin) + "  "));
    else
      text +=
          fmt::format("{}{}: {}\n", margin, std::string_view(key),
                      value.is_double() ? yaml_number(value.get_double()) : json::serialize(value));
  return text;
}

json::array array_of(const std::vector<std::string>& names) {
  json::array all;
  for (const auto& name : names) all.emplace_back(name);
  return all;
}

bool adapts_all(const GivenTraining& given) {
  const auto& targets = given.adapters.targets;
  return targets.size() == 1 && targets[0] == "all-linear";
}

/// Names of the modules that are adapted. Throws std::invalid_argument where a list of names cannot
/// say it.
std::vector<std::string> target_names(const GivenTraining& given) {
  if (!given.adapter->parameters_targeted.empty())
    throw std::invalid_argument(
        "adapters of stacked experts have no setting in this file: --runtime trainer");
  return given.adapter->all_targets();
}

/// The optimizer of the Trainer, by the name that a program gives the setting.
void add_optimizer(const TrainingPoint& point, std::string_view setting, json::object& file) {
  const OptimizerWords optimizer = optimizer_words(point);
  file[setting] = optimizer.name;
  if (!optimizer.arguments.empty()) file["optim_args"] = optimizer.arguments;
}

/// Steps, the learning rate and DeepSpeed, which both programs pass to the Trainer.
void add_steps(const TrainingPoint& point, json::object& file) {
  if (const Size steps = steps_of(point); steps > 0) file["max_steps"] = steps;
  file["learning_rate"] = 5e-5;
  if (sharding_of(point.step()) == Sharding::deepspeed) file["deepspeed"] = deepspeed_config(point);
}

void add_llama_factory_adapters(const GivenTraining& given, json::object& file) {
  file["lora_rank"] = given.adapters.rank;
  file["lora_alpha"] = given.lora_alpha;
  file["lora_dropout"] = 0.0;
  file["lora_target"] =
      adapts_all(given) ? "all" : fmt::format("{}", fmt::join(target_names(given), ","));
  if (!given.copies.empty())
    file["additional_target"] = fmt::format("{}", fmt::join(given.copies, ","));
  if (given.adapters.magnitudes) file["use_dora"] = true;
  if (!given.base) return;
  const std::string_view scheme = given.base->scheme->name;
  file["quantization_bit"] = scheme == "int8" ? 8 : 4;
  if (scheme == "int8") return;
  file["quantization_type"] = scheme.substr(0, 3);
  file["double_quantization"] = scheme.ends_with("double");
}

void add_axolotl_adapters(const GivenTraining& given, json::object& file) {
  const std::string_view scheme = given.base ? given.base->scheme->name : "";
  file["adapter"] = given.base && scheme != "int8" ? "qlora" : "lora";
  file["lora_r"] = given.adapters.rank;
  file["lora_alpha"] = given.lora_alpha;
  file["lora_dropout"] = 0.0;
  if (adapts_all(given))
    file["lora_target_linear"] = true;
  else
    file["lora_target_modules"] = array_of(target_names(given));
  if (!given.copies.empty()) file["lora_modules_to_save"] = array_of(given.copies);
  if (given.adapters.magnitudes) file["peft_use_dora"] = true;
  if (!given.base) return;
  file[scheme == "int8" ? "load_in_8bit" : "load_in_4bit"] = true;
  if (scheme == "int8") return;
  if (scheme.starts_with("fp4"))
    throw std::invalid_argument("axolotl has nf4 in 4 bit: --base-precision nf4 or nf4-double");
  file["bnb_config_kwargs"] =
      json::object{{"bnb_4bit_use_double_quant", scheme.ends_with("double")}};
}

void add_axolotl_liger(const model::TrainingScenario& s, json::object& file) {
  if (!s.fused_loss) return;
  file["plugins"] = json::array{"axolotl.integrations.liger.LigerPlugin"};
  if (s.fused_kernels)
    for (const char* kernel : {"liger_rope", "liger_rms_norm", "liger_glu_activation"})
      file[kernel] = true;
  file["liger_fused_linear_cross_entropy"] = true;
}

/// axolotl loads weights in the type that it computes in.
void refuse_wide_weights(const model::TrainingScenario& s) {
  if (s.recipe->name == "autocast")
    throw std::invalid_argument(
        "axolotl has no fp32 weights beside products in 16 bit: --recipe pure-16bit, or --zero");
  if (s.optimizer->rank > 0)
    throw std::invalid_argument(
        fmt::format("{} has no setting in this file: --optimizer adamw", s.optimizer->name()));
}

}  // namespace

/// Source: LLaMA-Factory 0.9.5 extras/constants.py AttentionFunction, model_utils/attention.py: a
/// model with sinks runs FlashAttention-3 whatever is asked.
std::string_view flash_attn_of(const model::TrainingScenario& s) {
  const std::string_view word = attention_word(s);
  if (word == "sdpa" || word == "flash_attention_2") return word == "sdpa" ? "sdpa" : "fa2";
  return model::attention_support(*s.model).sinks ? "fa3" : "disabled";
}

/// Source: LLaMA-Factory 0.9.5 hparams/*.py, model/adapter.py.
std::string llama_factory_file(const TrainingPoint& point) {
  refuse_unwritten(point);
  const model::TrainingScenario& s = point.step();
  if (s.optimizer->rank > 0 || (s.fused_loss && !s.fused_kernels))
    throw std::invalid_argument(
        s.fused_loss ? "LLaMA-Factory has Liger's kernels together: --liger"
                     : "optimizers of low rank have no setting in this file: --optimizer adamw");
  // model/patcher.py infer_optim_dtype
  if (s.adapter != nullptr && s.recipe->weight == 4)
    throw std::invalid_argument(
        "LLaMA-Factory has frozen weights in 16 bit: --precision bf16 or fp16");
  json::object file{{"model_name_or_path", checkpoint_of(point)},
                    {"stage", "pt"},
                    {"do_train", true},
                    {"finetuning_type", s.adapter != nullptr ? "lora" : "full"}};
  if (s.adapter != nullptr) add_llama_factory_adapters(point.given, file);
  file["dataset"] = "DATA";
  file["cutoff_len"] = s.sequence;
  file["per_device_train_batch_size"] = s.batch;
  file["gradient_accumulation_steps"] = s.accumulated;
  add_optimizer(point, "optim", file);
  if (s.recipe->name == "pure-16bit" && s.adapter == nullptr) {
    if (loaded_type(point) != "bfloat16")
      throw std::invalid_argument("LLaMA-Factory has weights in bf16 alone: --precision bf16");
    file["pure_bf16"] = true;
  }
  if (const std::string_view type = mixed_type(point); !type.empty()) file[type] = true;
  file["disable_gradient_checkpointing"] = s.recomputation == model::Recomputation::none;
  file["flash_attn"] = flash_attn_of(s);
  if (s.fused_kernels) file["enable_liger_kernel"] = true;
  file["output_dir"] = "trained";
  add_steps(point, file);
  return expected(point) +
         fmt::format(
             "# Start with: {}NPROC_PER_NODE={} llamafactory-cli train llama_factory.yaml\n# DATA: "
             "a text of data/dataset_info.json.\n",
             s.parallel.cards() > 1 || s.zero > 0 ? "FORCE_TORCHRUN=1 " : "", s.parallel.cards()) +
         as_yaml(file);
}

/// Source: axolotl 0.19 utils/schemas/*.py, utils/config/__init__.py resolve_dtype.
std::string axolotl_file(const TrainingPoint& point) {
  const model::TrainingScenario& s = point.step();
  refuse_unwritten(point, {.inputs_on_host = !is_fsdp(sharding_of(s))});
  refuse_wide_weights(s);
  json::object file{{"base_model", checkpoint_of(point)}};
  if (s.adapter != nullptr) add_axolotl_adapters(point.given, file);
  file["datasets"] = json::array{json::object{{"path", "DATA"}, {"type", "completion"}}};
  file["sequence_len"] = s.sequence;
  file["sample_packing"] = false;
  file["pad_to_sequence_len"] = true;
  file["micro_batch_size"] = s.batch;
  file["gradient_accumulation_steps"] = s.accumulated;
  add_optimizer(point, "optimizer", file);
  file["lr_scheduler"] = "linear";
  // bf16 is "auto" by default, which is true on cards that have it, before bfloat16 and float16.
  const std::string_view type = mixed_type(point);
  if (type != "bf16") file["bf16"] = false;
  if (!type.empty())
    file[type] = true;
  else
    file[loaded_type(point)] = true;
  file["attn_implementation"] = attention_word(s);
  const Sharding sharding = sharding_of(s);
  const bool fsdp = is_fsdp(sharding);
  if (s.recomputation == model::Recomputation::offloaded)
    file["gradient_checkpointing"] = "offload";
  else
    file["gradient_checkpointing"] = s.recomputation == model::Recomputation::full && !fsdp;
  add_axolotl_liger(s, file);
  if (s.compiled) file["torch_compile"] = true;
  if (fsdp) {
    json::object config = fsdp_config(point);
    file["fsdp_version"] = config["version"];
    config.erase("version");
    config["offload_params"] = config["cpu_offload"];
    config.erase("cpu_offload");
    if (sharding == Sharding::fsdp1) config.erase("reshard_after_forward");
    file["fsdp_config"] = std::move(config);
  }
  file["output_dir"] = "trained";
  add_steps(point, file);
  return expected(point) +
         fmt::format(
             "# Start with: axolotl train axolotl.yaml --launcher torchrun -- --nproc-per-node "
             "{}\n",
             s.parallel.cards()) +
         as_yaml(file);
}

/// Source: accelerate 1.15 commands/config/config_args.py, cluster.py.
std::string accelerate_file(const TrainingPoint& point) {
  refuse_unwritten(point);
  const model::TrainingScenario& s = point.step();
  const Sharding sharding = sharding_of(s);
  const std::string_view type = mixed_type(point);
  const bool one = s.parallel.cards() == 1;
  json::object file{{"compute_environment", "LOCAL_MACHINE"},
                    {"distributed_type", sharding == Sharding::deepspeed ? "DEEPSPEED"
                                         : sharding != Sharding::none    ? "FSDP"
                                         : one                           ? "NO"
                                                                         : "MULTI_GPU"},
                    {"mixed_precision", type.empty() ? "no" : type},
                    {"num_machines", 1},
                    {"machine_rank", 0},
                    {"num_processes", s.parallel.cards()},
                    {"use_cpu", false}};
  if (sharding == Sharding::deepspeed) {
    const std::string_view host = s.on_disk ? "nvme" : "cpu";
    file["deepspeed_config"] =
        json::object{{"zero_stage", s.zero},
                     {"gradient_accumulation_steps", s.accumulated},
                     {"gradient_clipping", 1.0},
                     {"offload_optimizer_device", s.optimizer_on_host ? host : "none"},
                     {"offload_param_device", s.parameters_on_host ? host : "none"},
                     {"zero3_init_flag", s.zero == 3 && !s.loads_whole},
                     {"zero3_save_16bit_model", s.zero == 3}};
  } else if (sharding != Sharding::none) {
    json::object config;
    for (const auto& [key, value] : fsdp_config(point))
      config[key == "cpu_offload" ? "fsdp_offload_params"
                                  : fmt::format("fsdp_{}", std::string_view(key))] = value;
    if (sharding == Sharding::fsdp1) {
      config.erase("fsdp_reshard_after_forward");
      config["fsdp_sharding_strategy"] = "FULL_SHARD";
    }
    file["fsdp_config"] = std::move(config);
  }
  return expected(point) +
         "# Start with: accelerate launch --config_file accelerate.yaml SCRIPT\n"
         "# Batch, sequence, optimizer, recomputation without FSDP, adapters and the type that "
         "weights are loaded in are the script's.\n" +
         as_yaml(file);
}

}  // namespace headroom::sweep
