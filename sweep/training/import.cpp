#include "sweep/training/import.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "hardware/text_file.hpp"
#include "sweep/training/known_keys.hpp"

namespace headroom::sweep {
namespace {

/// One key of any of the formats. `values`: "written=flag's value" apart by spaces, "*" for any
/// other; "=" alone leaves the flag out; empty: as written. A flag that is a switch takes "on".
struct Key {
  std::string_view key, flag, values;
};
constexpr std::string_view optimizers =
    "adamw_torch=adamw adamw_torch_fused=adamw adamw_hf=adamw adamw_bnb_8bit=adamw-8bit "
    "adamw_8bit=adamw-8bit paged_adamw_8bit=paged-adamw-8bit paged_adamw_32bit=paged-adamw "
    "adafactor=adafactor sgd=sgd lion_32bit=lion adagrad=adagrad rmsprop=rmsprop Adam=adamw "
    "AdamW=adamw FusedAdam=adamw DeepSpeedCPUAdam=adamw Lion=lion Lamb=lamb Adagrad=adagrad *";
constexpr auto keys = std::to_array<Key>({
    // transformers 5.23 TrainingArguments, TRL's SFTConfig
    {"per_device_train_batch_size", "batch", ""},
    {"gradient_accumulation_steps", "grad-accum", "auto="},
    {"gradient_checkpointing", "checkpointing",
     "true=full false= offload=offloaded unsloth=offloaded"},
    {"optim", "optimizer", optimizers},
    {"bf16", "precision", "true=bf16 false= auto="},
    {"fp16", "precision", "true=fp16 false= auto="},
    {"use_liger_kernel", "liger", "true=on false="},
    {"max_length", "seq", ""},
    {"max_seq_length", "seq", ""},
    {"fsdp", "runtime", "=  *=fsdp"},
    // DeepSpeed
    {"train_micro_batch_size_per_gpu", "batch", "auto="},
    {"zero_optimization.stage", "zero", ""},
    {"zero_optimization.offload_optimizer.device", "offload-optimizer", "none="},
    {"zero_optimization.offload_param.device", "offload-params", "none="},
    {"bf16.enabled", "precision", "true=bf16 false= auto="},
    {"fp16.enabled", "precision", "true=fp16 false= auto="},
    {"optimizer.type", "optimizer", optimizers},
    // LLaMA-Factory 0.9
    {"model_name_or_path", "model", ""},
    {"finetuning_type", "lora", "lora=on oft=? full= freeze=?"},
    {"lora_rank", "lora-rank", ""},
    {"lora_alpha", "lora-alpha", ""},
    {"lora_target", "lora-targets", "all=all-linear"},
    {"additional_target", "modules-to-save", ""},
    {"use_dora", "dora", "true=on false="},
    {"quantization_bit", "qlora", "4=on"},
    {"cutoff_len", "seq", ""},
    {"flash_attn", "attention", "fa2=flash sdpa=flash fa3=flash auto= disabled=eager"},
    {"enable_liger_kernel", "liger", "true=on false="},
    {"pure_bf16", "recipe", "true=pure-16bit false="},
    {"disable_gradient_checkpointing", "checkpointing", "true=none false="},
    // accelerate
    {"num_processes", "dp", ""},
    {"mixed_precision", "precision", "no=fp32"},
    {"deepspeed_config.zero_stage", "zero", ""},
    {"deepspeed_config.gradient_accumulation_steps", "grad-accum", "auto="},
    {"deepspeed_config.offload_optimizer_device", "offload-optimizer", "none="},
    {"deepspeed_config.offload_param_device", "offload-params", "none="},
    {"distributed_type", "runtime",
     "DEEPSPEED=deepspeed FSDP=fsdp MULTI_GPU= NO= MEGATRON_LM=megatron"},
});

/// Keys, or beginnings of keys, that change no memory.
constexpr std::string_view without_memory =
    "output_dir learning_rate num_train_epochs max_steps lr_scheduler warmup logging "
    "save_ eval seed report_to dataset overwrite preprocessing dataloader weight_decay "
    "adam_ max_grad_norm ddp_timeout template stage do_train plot_loss val_size resume "
    "run_name push_to_hub lora_dropout gradient_clipping steps_per_print wall_clock "
    "optimizer.params scheduler machine_rank main_ num_machines rdzv compute_environment "
    "debug downcast same_network use_cpu tpu max_samples trust_remote_code";

/// Every scalar of the document by its dotted key; lists with commas.
class Flat {
 public:
  /// Throws YAML::Exception where aliases make more text than a configuration has.
  explicit Flat(const YAML::Node& root) { add(root, ""); }
  std::vector<std::pair<std::string, std::string>> all;

 private:
  void add(const YAML::Node& node, const std::string& path) {
    take(node, path.size());
    if (node.IsMap()) {
      for (const auto& item : node) {
        const std::string key = item.first.as<std::string>();
        add(item.second, path.empty() ? key : path + '.' + key);
      }
    } else if (node.IsSequence()) {
      std::string joined;
      for (const auto& item : node)
        if (item.IsScalar()) joined += (joined.empty() ? "" : ",") + text(item);
      all.emplace_back(path, joined);
    } else if (node.IsScalar()) {
      all.emplace_back(path, text(node));
    }
  }
  std::string text(const YAML::Node& node) {
    take(node, node.Scalar().size());
    return node.Scalar();
  }
  void take(const YAML::Node& node, std::size_t characters) {
    if (characters >= left_)
      throw YAML::Exception(node.Mark(), "more than 1 MiB of keys and values, aliases included");
    left_ -= characters + 1;
  }
  std::size_t left_ = std::size_t{1} << 20;
};

std::vector<std::pair<std::string, std::string>> read(const std::string& file) {
  std::string text;
  try {
    text = read_text_file(file);
  } catch (const std::runtime_error& e) {
    throw UsageError(fmt::format("--from {}", e.what()));
  }
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) throw UsageError(fmt::format("{}: expected keys and values", file));
    return Flat(root).all;
  } catch (const YAML::Exception& e) {
    throw UsageError(fmt::format("{}:{}: {}", file, e.mark.line + 1, e.msg));
  }
}

/// The flag's value; nothing if the value leaves the flag out. Throws UsageError for a value that
/// the row does not know.
std::optional<std::string> translated(const Key& key, const std::string& value,
                                      const std::string& file) {
  if (key.values.empty()) return value;
  bool closed = true;
  std::string known;
  for (const std::string_view word : headroom::words(key.values)) {
    const auto equals = word.find('=');
    if (word == "*") {
      closed = false;
      continue;
    }
    const std::string_view from = word.substr(0, equals), to = word.substr(equals + 1);
    if (from == "*" || lower(from) == lower(value)) {
      if (to == "?")
        throw UsageError(fmt::format("{}: key '{}': '{}' is not estimated", file, key.key, value));
      return to.empty() ? std::nullopt : std::optional(std::string(to));
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", from);
  }
  // Values besides those that are translated are the flag's own: numbers, names.
  const bool words_only = key.flag == "precision" || key.flag == "lora" || key.flag == "dora" ||
                          key.flag == "liger" || key.flag == "qlora" || key.flag == "attention" ||
                          key.flag == "checkpointing";
  if (closed && words_only && key.key != "mixed_precision")
    throw UsageError(
        fmt::format("{}: key '{}': found '{}', expected {}", file, key.key, value, known));
  return value;
}

/// True if the flag asks for adapters or says how they are.
bool of_adapters(std::string_view flag) {
  return flag.starts_with("lora-") || flag == "modules-to-save" || flag == "dora" ||
         flag == "qlora";
}

class Importer {
 public:
  Importer(Options& options, Imported& out) : options_(options), out_(out) {}

  /// `nested`: another file names it as DeepSpeed's.
  void file(const std::string& name, bool nested = false) {
    const auto all = read(name);
    std::string deepspeed;
    const bool full = std::ranges::any_of(all, [](const auto& each) {
      return each.first == "finetuning_type" && lower(each.second) == "full";
    });
    for (const auto& [written, value] : all) {
      // A file of the Trainer may hold DeepSpeed's configuration itself.
      constexpr std::string_view inside = "deepspeed.";
      const std::string key = written.starts_with(inside) ? written.substr(inside.size()) : written;
      const auto row =
          std::find_if(keys.begin(), keys.end(), [&](const Key& each) { return each.key == key; });
      if (row != keys.end() && full && of_adapters(row->flag))
        leave_adapter(*row, value, name);
      else if (row != keys.end())
        take(*row, key, value, name);
      else if (key == "deepspeed" && !value.empty())
        deepspeed = (std::filesystem::path(name).parent_path() / value).string();
      else if (key == "train_batch_size")
        whole_batch_ = value;
      else
        ignore(key, name);
      if (key == "finetuning_type") factory_ = true;
      if (key.starts_with("zero_optimization")) shares_ = true;
    }
    if (deepspeed.empty()) return;
    if (nested)
      throw UsageError(fmt::format(
          "{}: key 'deepspeed': a file that another names as DeepSpeed's names no further one",
          name));
    file(deepspeed, true);
  }
  void finish(const std::string& name) {
    supply("runtime", shares_ ? "deepspeed" : factory_ ? "llama-factory" : "trainer", "the format");
    if (factory_) supply("checkpointing", "full", "LLaMA-Factory checkpoints by default");
    if (whole_batch_.empty() || whole_batch_ == "auto") return;
    Size whole = 0;
    std::from_chars(whole_batch_.data(), whole_batch_.data() + whole_batch_.size(), whole);
    const Size dp = options_.whole("dp", 1), batch = options_.whole("batch", 1),
               passes = options_.whole("grad-accum", 1);
    if (whole != dp * batch * passes)
      throw UsageError(
          fmt::format("{}: train_batch_size {} is not replicas {} (--dp) x batch {} x passes {}",
                      name, whole_batch_, dp, batch, passes));
    out_.taken.push_back(
        fmt::format("train_batch_size {} = {} x {} x {}", whole, dp, batch, passes));
  }

 private:
  void supply(std::string_view flag, const std::string& value, std::string_view why) {
    if (flag == "model" && !options_.operands().empty()) {
      out_.ignored.push_back(fmt::format("{} (the command line names a model)", why));
      return;
    }
    if (flag == "precision" && (options_.given("recipe") || options_.given("mixed-precision")))
      return;
    if (options_.supply(flag, value == "on" ? "" : value))
      out_.taken.push_back(fmt::format("--{}{}{} ({})", flag, value == "on" ? "" : " ",
                                       value == "on" ? "" : value, why));
    else if (options_.text(flag) != value)
      out_.ignored.push_back(fmt::format("{} (--{} {} is given)", why, flag, options_.text(flag)));
  }
  void take(const Key& row, const std::string& key, const std::string& value,
            const std::string& name) {
    const auto translation = translated(row, value, name);
    if (translation && !options_.given(row.flag))
      out_.keys.emplace(row.flag, fmt::format("{}: key '{}'", name, key));
    if (translation)
      supply(row.flag, *translation, key);
    else
      out_.ignored.push_back(fmt::format("{}: {} (changes nothing)", key, value));
  }
  /// LLaMA-Factory does not read its keys of adapters where all weights are trained, and refuses to
  /// quantise them. Source: LLaMA-Factory 0.9.5 model/adapter.py init_adapter, hparams/parser.py.
  void leave_adapter(const Key& row, const std::string& value, const std::string& name) {
    if (row.flag == "qlora")
      throw UsageError(
          fmt::format("{}: key '{}': found '{}' beside finetuning_type full, expected lora there",
                      name, row.key, value));
    out_.ignored.push_back(fmt::format("{} (finetuning_type full has no adapters)", row.key));
  }
  /// Throws UsageError for a key of no tool: a typo would leave a setting out without a word.
  void ignore(const std::string& key, const std::string& name) {
    if (!is_known_key(key)) {
      std::vector<std::string> known = known_keys();
      for (const Key& row : keys) known.emplace_back(row.key);
      throw UsageError(fmt::format("{}: {}", name, unknown_name("key", key, known).what()));
    }
    const bool harmless =
        std::ranges::any_of(headroom::words(without_memory),
                            [&](std::string_view start) { return key.starts_with(start); });
    out_.ignored.push_back(
        fmt::format("{} ({})", key, harmless ? "changes no memory" : "not counted"));
  }

  Options& options_;
  Imported& out_;
  std::string whole_batch_;
  bool factory_ = false, shares_ = false;
};

}  // namespace

void import_training(Options& options, Imported& imported) {
  if (!options.given("from")) return;
  const std::string name = options.text("from");
  Importer importer(options, imported);
  importer.file(name);
  importer.finish(name);
}

std::string Imported::naming_key(const std::string& message) const {
  for (const auto& [flag, key] : keys)
    if (const std::string start = "--" + flag;
        message.starts_with(start + ':') || message.starts_with(start + ' '))
      return key + message.substr(start.size());
  return message;
}

}  // namespace headroom::sweep
