// The type that a file computes in. Sources: transformers 5.24 training_args.py (bf16 and fp16 are
// false by default); TRL 1.16 base_config.py (bf16 unless fp16), trainer/utils.py (weights are
// loaded in float32); LLaMA-Factory 0.9.5 model/adapter.py (trained weights are raised to fp32);
// axolotl 0.19 utils/config/__init__.py resolve_dtype; accelerate 1.15 state.py; DeepSpeed 0.16
// runtime/config.py (bf16.enabled and fp16.enabled are false by default).
#include <fmt/format.h>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "sweep/training/importing.hpp"

namespace headroom::sweep {
namespace {

/// The switch that is on, with the type; null: none.
const Setting* switched_on(const Settings& settings, std::string& type) {
  for (const auto& [key, name] : {std::pair{"bf16", "bf16"},
                                  {"fp16", "fp16"},
                                  {"bf16.enabled", "bf16"},
                                  {"fp16.enabled", "fp16"}})
    if (const Setting* found = settings.find(key);
        found != nullptr && (says_yes(found->value) || lower(found->value) == "full")) {
      type = name;
      return found;
    }
  return nullptr;
}

bool is_auto(const Settings& settings, std::string_view key) {
  const Setting* found = settings.find(key);
  return found != nullptr && lower(found->value) == "auto";
}

bool has_adapters(const Options& options) {
  for (const auto* flag : {"lora", "lora-rank", "lora-targets", "dora", "qlora", "base-precision"})
    if (options.given(flag)) return true;
  return false;
}

bool shards(const Settings& settings) {
  const Setting* type = settings.find("distributed_type");
  return settings.find("zero_optimization.stage") != nullptr ||
         settings.find("deepspeed_config.zero_stage") != nullptr ||
         (type != nullptr && lower(type->value) == "deepspeed");
}

/// axolotl loads weights in the type that it computes in, and FSDP raises them to fp32
/// (accelerate 1.15 utils/fsdp_utils.py fsdp2_prepare_model).
void axolotl_types(const Settings& settings, Importing& to) {
  std::string type;
  const Setting* on = switched_on(settings, type);
  const Setting* loaded = nullptr;
  const Setting* bf16 = settings.find("bf16");
  // "auto" is the default, and goes before bfloat16 and float16.
  const bool by_default = on == nullptr && (bf16 == nullptr || is_auto(settings, "bf16"));
  for (const auto& [key, name] : {std::pair{"bfloat16", "bf16"}, {"float16", "fp16"}})
    if (on == nullptr && loaded == nullptr && !by_default && settings.is_on(key)) {
      loaded = settings.find(key);
      type = name;
    }
  if (on == nullptr && loaded == nullptr && !by_default)
    return to.supply("precision", "fp32", "axolotl without bf16, fp16, bfloat16 and float16");
  if (const Setting* named = on != nullptr ? on : loaded) to.supply_for(*named, "precision", type);
  const bool sharded = shards(settings) || settings.find("fsdp_config") != nullptr ||
                       settings.first_of({"fsdp_version", "fsdp_config.fsdp_version"}) != nullptr;
  if (!has_adapters(to.options()) && !sharded)
    to.supply("recipe", "pure-16bit", "axolotl loads weights in the type that it computes in");
}

/// Nothing in the file asks for 16 bit.
void types_without_switch(const Settings& settings, Importing& to) {
  const bool sharded = shards(settings);
  if (is_auto(settings, "bf16.enabled") || is_auto(settings, "fp16.enabled")) {
    // "auto" is the Trainer's switch; a file of DeepSpeed or accelerate alone does not have it.
    if (settings.is_from(deepspeed_keys) || settings.is_from(accelerate_keys)) return;
  }
  if (settings.is_from(accelerate_keys) || settings.is_on("torch_autocast.enabled")) return;
  if (settings.is_from(deepspeed_keys) || (sharded && !has_adapters(to.options())))
    return to.supply("precision", "fp32", "DeepSpeed without bf16.enabled and fp16.enabled");
  // Frozen weights are loaded in 16 bit beside adapters in fp32.
  if (has_adapters(to.options())) return;
  if (settings.is_from(llama_factory_keys))
    return to.supply("precision", "fp32",
                     "LLaMA-Factory without bf16, fp16 and pure_bf16 trains in fp32");
  if (settings.trl) {
    if (settings.find("bf16") != nullptr)
      to.supply("precision", "fp32", "bf16 false, and TRL loads weights in fp32");
    return;
  }
  // The rule needs the model: sweep/options/training_options.cpp.
  to.out().loads_as_stored = true;
}

/// PEFT's preparation of a quantised base raises the rest to fp32. TRL runs without since 0.27
/// (experimental/utils.py, prepare_model_for_kbit_training), and axolotl takes it back
/// (loaders/model.py, _convert_embedding_modules_dtype).
void base_type(const Settings& settings, Importing& to) {
  const Options& options = to.options();
  const bool quantised = options.given("qlora") || options.given("base-precision");
  if (!quantised || options.given("precision") || options.given("mixed-precision")) return;
  if (settings.trl || settings.is_from(axolotl_keys))
    to.supply("recipe", "pure-16bit",
              settings.trl ? "TRL since 0.27 raises no frozen weights to fp32"
                           : "axolotl leaves frozen weights in the type that it computes in");
}

}  // namespace

void import_types(const Settings& settings, Importing& to) {
  const Options& options = to.options();
  base_type(settings, to);
  if (settings.is_from(axolotl_keys)) return axolotl_types(settings, to);
  const Setting* loaded = settings.first_of({"dtype", "torch_dtype"});
  const std::string type = loaded == nullptr ? "" : lower(loaded->value);
  std::string computed;
  const Setting* on = switched_on(settings, computed);
  if (on != nullptr) to.supply_for(*on, "precision", computed);
  if (const Setting* mixed = settings.find("mixed_precision")) {
    const std::string word = lower(mixed->value);
    if (word != "no" && word != "bf16" && word != "fp16" && word != "fp8")
      refuse_setting(*mixed, "", "no, bf16, fp16 or fp8");
    if (on == nullptr) to.supply_for(*mixed, "precision", word == "no" ? "fp32" : word);
    on = on == nullptr ? mixed : on;
  }
  if (has_adapters(options) || shards(settings)) {
    if (on == nullptr) types_without_switch(settings, to);
    return;
  }
  if (type == "bfloat16" || type == "float16")
    to.supply_for(*loaded, "recipe", "pure-16bit");
  else if (type == "float32" && on == nullptr)
    to.supply_for(*loaded, "precision", "fp32");
  if (on == nullptr && !options.given("recipe") && !options.given("mixed-precision") &&
      !options.given("precision"))
    types_without_switch(settings, to);
}

}  // namespace headroom::sweep
