#include "sweep/training/import.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "model/train/runtime.hpp"
#include "sweep/training/importing.hpp"

namespace headroom::sweep {
namespace {

/// The table by the keys that one tool alone has.
const KeyTable& table_of(const std::vector<Setting>& all) {
  const auto has = [&](std::string_view keys) {
    return std::ranges::any_of(all, [&](const Setting& each) {
      return std::ranges::count(headroom::words(keys), each.key) > 0;
    });
  };
  const auto begins = [&](std::string_view start) {
    return std::ranges::any_of(all, [&](const Setting& s) { return s.key.starts_with(start); });
  };
  if (has("base_model micro_batch_size sequence_len")) return axolotl_keys;
  if (has("distributed_type num_processes compute_environment mixed_precision"))
    return accelerate_keys;
  if (has("stage finetuning_type cutoff_len template dataset_dir lora_target lora_rank pure_bf16 "
          "quantization_bit disable_gradient_checkpointing flash_attn"))
    return llama_factory_keys;
  if (begins("zero_optimization") || begins("bf16.") || begins("fp16.") ||
      has("train_micro_batch_size_per_gpu train_batch_size"))
    return deepspeed_keys;
  return trainer_keys;
}

/// Keys of SFTConfig alone.
constexpr std::string_view keys_of_trl =
    "max_length max_seq_length packing packing_strategy padding_free dataset_text_field "
    "completion_only_loss assistant_only_loss eval_packing activation_offloading";

/// Defaults of a tool where the file does not say: TrainingArguments, SFTConfig, LLaMA-Factory's
/// hparams, AxolotlInputConfig.
struct Default {
  const KeyTable* table;
  bool trl;
  std::string_view flag, value;
  std::string_view key;  ///< says otherwise where it is there
};
const Default defaults[] = {
    {&trainer_keys, false, "batch", "8", "per_device_train_batch_size"},
    {&trainer_keys, true, "batch", "8", "per_device_train_batch_size"},
    {&trainer_keys, true, "seq", "1024", "max_length"},
    {&trainer_keys, true, "checkpointing", "full", "gradient_checkpointing"},
    {&llama_factory_keys, false, "batch", "8", "per_device_train_batch_size"},
    {&axolotl_keys, false, "seq", "512", "sequence_len"},
};

/// The flag's value; nothing if the value leaves the flag out. Throws UsageError for a value that
/// the row does not know.
std::optional<std::string> translated(const Key& key, const Setting& setting) {
  if (key.values.empty()) return setting.value;
  const auto rows = headroom::words(key.values);
  std::vector<std::string_view> known;
  bool refused = false;
  for (const std::string_view word : rows) {
    if (word == "*") return setting.value;
    const auto equals = word.find('=');
    const std::string_view from = word.substr(0, equals), to = word.substr(equals + 1);
    if (from == "*" || lower(from) == lower(setting.value)) {
      refused = to == "?";
      if (!refused) return to.empty() ? std::nullopt : std::optional(std::string(to));
      break;
    }
  }
  for (const std::string_view word : rows)
    if (!word.ends_with("=?") && !word.starts_with("*"))
      known.push_back(word.substr(0, word.find('=')));
  std::string expected = fmt::format("{}", fmt::join(known, ", "));
  if (!key.instead.empty()) expected = key.instead;
  if (expected.empty()) expected = "no such key";
  refuse_setting(setting, refused ? fmt::format("'{}' is not estimated", setting.value) : "",
                 expected);
}

/// True if the flag asks for adapters or says how they are.
bool of_adapters(std::string_view flag) {
  return flag.starts_with("lora-") || flag == "modules-to-save" || flag == "dora" ||
         flag == "qlora" || flag == "base-precision";
}

/// Files that `settings` names: DeepSpeed's and FSDP's.
void follow(Settings& settings) {
  const std::vector<Setting> outer = settings.all;
  for (const Setting& each : outer) {
    const bool deepspeed =
        each.key == "deepspeed" || each.key == "deepspeed_config.deepspeed_config_file";
    if ((!deepspeed && each.key != "fsdp_config") || each.value.empty() || each.value == "none")
      continue;
    for (Setting& inner : read_settings(file_named_by(each))) {
      if (inner.key == "deepspeed")
        throw UsageError(fmt::format(
            "{}: key 'deepspeed': a file that another names as DeepSpeed's names no further one",
            inner.file));
      if (!deepspeed) inner.key = "fsdp_config." + inner.key;
      settings.all.push_back(inner);
    }
  }
}

Settings settings_of(const std::string& file) {
  Settings settings{.table = nullptr, .all = read_settings(file)};
  settings.table = &table_of(settings.all);
  // A file may hold DeepSpeed's configuration itself.
  constexpr std::string_view inside = "deepspeed.";
  for (Setting& each : settings.all)
    if (each.key.starts_with(inside)) each.key = each.key.substr(inside.size());
  follow(settings);
  settings.trl = settings.is_from(trainer_keys) &&
                 std::ranges::any_of(headroom::words(keys_of_trl), [&](std::string_view key) {
                   return settings.find(key) != nullptr;
                 });
  return settings;
}

/// The key that trains all weights, so that the tool does not read its keys of adapters; null:
/// there are adapters. Source: LLaMA-Factory 0.9.5 model/adapter.py init_adapter,
/// hparams/parser.py; TRL 1.16 trainer/utils.py get_peft_config; axolotl 0.19 loaders/adapter.py.
std::string full_training(const Settings& settings) {
  if (settings.is_from(llama_factory_keys)) {
    const Setting* type = settings.find("finetuning_type");
    return type != nullptr && lower(type->value) == "full" ? "finetuning_type full" : "";
  }
  if (settings.is_from(axolotl_keys)) {
    const Setting* adapter = settings.find("adapter");
    return adapter == nullptr || adapter->value.empty() ? "no key adapter" : "";
  }
  if (settings.is_from(trainer_keys)) return settings.is_on("use_peft") ? "" : "use_peft false";
  return "";
}

void leave_adapter(const Key& row, const Setting& setting, const std::string& full, Importing& to) {
  if ((row.flag == "qlora" || row.flag == "base-precision") && translated(row, setting))
    throw UsageError(fmt::format("{}: key '{}': found '{}' beside {}, expected {} there",
                                 setting.file, row.key, setting.value, full,
                                 full == "finetuning_type full" ? "lora" : "adapters"));
  to.ignore(setting.key, full + " has no adapters", Ignored::Matters::no);
}

/// transformers 5.24 trainer_optimizer.py passes optim_args to torch's SGD and RMSprop.
std::string with_arguments(const std::string& optimizer, const Setting* arguments) {
  if (arguments == nullptr) return optimizer;
  bool momentum = false, nesterov = false, centered = false;
  const std::string written = lower(arguments->value);
  for (const std::string_view word : headroom::words(written, ", ")) {
    momentum = momentum ||
               (word.starts_with("momentum=") && word != "momentum=0" && word != "momentum=0.0");
    nesterov = nesterov || word == "nesterov=true";
    centered = centered || word == "centered=true";
  }
  if (optimizer == "sgd") return nesterov ? "nesterov" : momentum ? "sgd-momentum" : "sgd";
  if (optimizer != "rmsprop") return optimizer;
  return optimizer + (momentum ? "-momentum" : "") + (centered ? "-centered" : "");
}

void take(const Settings& settings, const Setting& setting, const std::string& full,
          Importing& to) {
  constexpr std::string_view followed = "deepspeed train_batch_size";
  if (std::ranges::count(headroom::words(followed), setting.key) > 0) return;
  const Key* row = row_of(*settings.table, setting.key);
  if (row == nullptr) {
    // A typo would leave a setting out without a word.
    if (!is_known_key(*settings.table, setting.key))
      throw UsageError(
          fmt::format("{}: {}", setting.file,
                      unknown_name("key", setting.key, known_keys(*settings.table)).what()));
    const bool harmless = is_harmless(setting.key);
    to.ignore(setting.key, harmless ? "changes no memory" : "not counted",
              harmless ? Ignored::Matters::no : Ignored::Matters::yes);
  } else if (!full.empty() && of_adapters(row->flag)) {
    leave_adapter(*row, setting, full, to);
  } else if (const auto value = translated(*row, setting); row->flag.empty()) {
    // A rule reads it.
  } else if (value) {
    to.supply_for(
        setting, row->flag,
        row->flag == "optimizer" ? with_arguments(*value, settings.find("optim_args")) : *value);
  } else {
    to.ignore(setting.key + ": " + setting.value, "changes nothing", Ignored::Matters::no);
  }
}

/// Defaults of adapters: FinetuningArguments' finetuning_type and lora_target, ModelConfig's
/// lora_r.
void supply_adapters(const Settings& settings, const std::string& full, Importing& to) {
  const Options& options = to.options();
  if (settings.is_on("use_peft") && !options.given("lora-rank"))
    to.supply("lora-rank", "16", "TRL's default");
  if (!settings.is_from(llama_factory_keys) || !full.empty()) return;
  if (!options.given("lora")) to.supply("lora", "on", "LLaMA-Factory's default");
  if (!options.given("lora-targets"))
    to.supply("lora-targets", "all-linear", "LLaMA-Factory's default");
}

/// A file does not say how long the documents of a packed sequence are.
void note_packing(const Settings& settings, Importing& to) {
  if (to.options().given("packing")) return;
  for (const auto* key : {"sample_packing", "neat_packing"})
    if (settings.is_on(key))
      to.ignore(key, "time counts attention to whole sequences; --packing TOKENS has documents",
                Ignored::Matters::yes);
}

void check_whole_batch(const Settings& settings, Importing& to) {
  const Setting* batch = settings.find("train_batch_size");
  if (batch == nullptr || batch->value == "auto") return;
  const Size whole = whole_number(batch->value).value_or(0);
  const Size dp = to.options().whole("dp", 1), each = to.options().whole("batch", 1),
             passes = to.options().whole("grad-accum", 1);
  if (whole != dp * each * passes)
    throw UsageError(
        fmt::format("{}: train_batch_size {} is not replicas {} (--dp) x batch {} x passes {}",
                    batch->file, batch->value, dp, each, passes));
  to.out().taken.push_back(
      fmt::format("train_batch_size {} = {} x {} x {}", whole, dp, each, passes));
}

/// torch.compile is described for some runtimes alone.
void check_compile(const Settings& settings, const Options& options) {
  const Setting* compile =
      settings.first_of({"torch_compile", "dynamo_backend", "dynamo_config.dynamo_backend"});
  if (compile == nullptr || !options.given("compile")) return;
  if (model::training_runtime(options.text("runtime")).selective !=
      model::Selective::but_every_2nd_mm)
    refuse_setting(*compile, "torch.compile is described for --runtime fsdp2 alone",
                   compile->key == "torch_compile" ? "false" : "no");
}

}  // namespace

void import_training(Options& options, Imported& imported) {
  if (!options.given("from")) return;
  const Settings settings = settings_of(options.text("from"));
  Importing to(options, imported);
  const std::string full = full_training(settings);
  for (const Setting& each : settings.all) take(settings, each, full, to);
  supply_adapters(settings, full, to);
  note_packing(settings, to);
  // FinetuningArguments: freeze_vision_tower is true where it is absent.
  imported.freezes_tower =
      settings.is_on("freeze_mm_modules") ||
      (settings.is_from(llama_factory_keys) &&
       (settings.find("freeze_vision_tower") == nullptr || settings.is_on("freeze_vision_tower")));
  import_types(settings, to);
  import_fsdp(settings, to);
  import_cards(settings, to);
  for (const Default& each : defaults)
    if (settings.is_from(*each.table) && settings.trl == each.trl && !settings.find(each.key) &&
        !options.given(each.flag))
      to.supply(each.flag, std::string(each.value), std::string(each.table->tool) + "'s default");
  check_compile(settings, options);
  check_whole_batch(settings, to);
}

}  // namespace headroom::sweep
