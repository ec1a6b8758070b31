// A program for transformers' Trainer, with PEFT, DeepSpeed and FSDP.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "model/describe/profile.hpp"
#include "sweep/launch/launch.hpp"
#include "sweep/launch/training_settings.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;

/// JSON as Python: of objects, numbers, texts and booleans.
std::string as_python(const json::value& value, std::string_view margin) {
  if (value.is_bool()) return value.get_bool() ? "True" : "False";
  if (!value.is_object()) return json::serialize(value);
  std::string text = "{\n";
  const std::string inner = std::string(margin) + "    ";
  for (const auto& [key, each] : value.get_object())
    text += fmt::format("{}{}: {},\n", inner, python_quoted(key), as_python(each, inner));
  return text + std::string(margin) + "}";
}

std::string start_line(const TrainingPoint& point) {
  const Size cards = point.step().parallel.cards();
  if (cards == 1 && sharding_of(point.step()) == Sharding::none) return "python3 train.py [DATA]";
  return fmt::format("torchrun --nproc-per-node {} train.py [DATA]", cards);
}

std::string python_list(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const auto& name : names) quoted.push_back(python_quoted(name));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

/// target_modules as PEFT takes them: a list of names, "all-linear" or a regular expression.
std::string python_targets(const std::vector<std::string>& targets) {
  const bool one =
      targets.size() == 1 &&
      (targets[0] == "all-linear" || targets[0].find_first_of("*+?()[]|^$\\") != std::string::npos);
  return one ? python_quoted(targets[0]) : python_list(targets);
}

/// Source: PEFT 0.19 tuners/lora/config.py.
std::string lora_config(const TrainingPoint& point) {
  const GivenTraining& given = point.given;
  std::string text =
      fmt::format("LoraConfig(\n        r={},\n        lora_alpha={},\n        lora_dropout=0.0,\n",
                  given.adapters.rank, given.lora_alpha);
  if (!given.adapters.targets.empty())
    text += fmt::format("        target_modules={},\n", python_targets(given.adapters.targets));
  if (!given.copies.empty())
    text += fmt::format("        modules_to_save={},\n", python_list(given.copies));
  if (given.adapters.magnitudes) text += "        use_dora=True,\n";
  return text + "        task_type=\"CAUSAL_LM\",\n    )";
}

/// Further arguments of from_pretrained, as complete lines.
std::string loading_arguments(const TrainingPoint& point) {
  const model::TrainingScenario& s = point.step();
  std::string text = fmt::format("        dtype=torch.{},\n        attn_implementation=\"{}\",\n",
                                 loaded_type(point), attention_word(s));
  if (s.base == nullptr) return text;
  const std::string_view scheme = s.base->scheme->name;
  if (scheme == "int8")
    text += "        quantization_config=BitsAndBytesConfig(load_in_8bit=True),\n";
  else
    text += fmt::format(
        "        quantization_config=BitsAndBytesConfig(load_in_4bit=True, "
        "bnb_4bit_quant_type=\"{}\",\n            bnb_4bit_compute_dtype=torch.{}{}{}),\n",
        scheme.substr(0, 3), loaded_type(point),
        scheme.ends_with("double") ? ", bnb_4bit_use_double_quant=True" : "",
        s.zero == 3 ? fmt::format(", bnb_4bit_quant_storage=torch.{}", loaded_type(point)) : "");
  if (s.zero < 3) text += "        device_map={\"\": int(os.environ.get(\"LOCAL_RANK\", 0))},\n";
  return text;
}

/// Liger kernels: all of them, or those of the loss alone.
std::string liger(const model::TrainingScenario& s) {
  if (s.fused_kernels) return "        use_liger_kernel=True,\n";
  if (!s.fused_loss) return {};
  return "        use_liger_kernel=True,\n        liger_kernel_config={\"rope\": False, "
         "\"swiglu\": "
         "False, \"rms_norm\": False,\n            \"cross_entropy\": False, "
         "\"fused_linear_cross_entropy\": True},\n";
}

/// Arguments of TrainingArguments after the sizes, as complete lines.
std::string trainer_settings(const TrainingPoint& point) {
  const model::TrainingScenario& s = point.step();
  const Sharding sharding = sharding_of(s);
  std::string text;
  const auto line = [&](std::string_view key, std::string_view value) {
    text += fmt::format("        {}={},\n", key, value);
  };
  if (const Size steps = steps_of(point); steps > 0)
    line("max_steps", std::to_string(steps));
  else
    line("num_train_epochs", "1");
  if (const std::string_view type = mixed_type(point); !type.empty()) line(type, "True");
  const bool fsdp = is_fsdp(sharding);
  if (s.recomputation == model::Recomputation::full && !fsdp) {
    line("gradient_checkpointing", "True");
    line("gradient_checkpointing_kwargs", "{\"use_reentrant\": False}");
  }
  const OptimizerWords optimizer = optimizer_words(point);
  line("optim", python_quoted(optimizer.name));
  if (!optimizer.arguments.empty()) line("optim_args", python_quoted(optimizer.arguments));
  if (s.optimizer->rank > 0) line("optim_target_modules", "\"all-linear\"");
  line("learning_rate", "5e-5");
  if (s.compiled) line("torch_compile", "True");
  text += liger(s);
  if (sharding == Sharding::none && s.parallel.replicas > 1)
    line("ddp_find_unused_parameters", "False");
  if (sharding == Sharding::deepspeed) line("deepspeed", "DEEPSPEED");
  if (fsdp) {
    line("fsdp", "True");
    line("fsdp_config", as_python(fsdp_config(point), "        "));
  }
  return text;
}

constexpr std::string_view program = R"({expected}# Start with: {start}
# DATA is a text file. Without it the program trains on random tokens: memory and times are the same.
import os
import sys

import torch
{peft}from transformers import AutoModelForCausalLM, AutoTokenizer{quantiser}, Trainer, TrainingArguments, default_data_collator

MODEL = {model}
SEQUENCE = {sequence}  # tokens
CARDS, BATCH, PASSES = {cards}, {batch}, {passes}
{deepspeed}

def arguments():
    return TrainingArguments(
        output_dir="trained",
        per_device_train_batch_size=BATCH,
        gradient_accumulation_steps=PASSES,
{settings}        use_cpu=not torch.cuda.is_available(),
        logging_steps=1,
        report_to="none",
    )


def load():
    model = AutoModelForCausalLM.from_pretrained(
        MODEL,
{loading}    )
{prepared}    return {wrapped}


def sequences(vocabulary):
    """Sequences of SEQUENCE tokens of the file, or random ones for ten steps."""
    if len(sys.argv) > 1:
        with open(sys.argv[1], encoding="utf-8") as file:
            tokens = torch.tensor(AutoTokenizer.from_pretrained(MODEL)(file.read())["input_ids"])
        rows = tokens[: len(tokens) // SEQUENCE * SEQUENCE].view(-1, SEQUENCE)
    else:
        rows = torch.randint(vocabulary, (10 * CARDS * BATCH * PASSES, SEQUENCE))
    return [{{"input_ids": row, "labels": row}} for row in rows]


if __name__ == "__main__":
    training = arguments()  # first: ZeRO 3 divides weights while they are loaded
    model = load()
    trainer = Trainer(
        model=model,
        args=training,
        train_dataset=sequences(model.config.get_text_config().vocab_size),
        data_collator=default_data_collator,
    )
    trainer.train()
    if torch.cuda.is_available():
        print(f"most allocated: {{torch.cuda.max_memory_allocated() >> 20}} MiB")
    trainer.save_model()
)";

}  // namespace

/// Source: transformers 5.17 training_args.py, trainer.py.
std::string trainer_script(const TrainingPoint& point) {
  refuse_unwritten(point, {.tensor_parallel = sharding_of(point.step()) == Sharding::deepspeed,
                           .prepares_base = true});
  const model::TrainingScenario& s = point.step();
  const std::string checkpoint = checkpoint_of(point);
  std::string deepspeed;
  if (sharding_of(s) == Sharding::deepspeed)
    deepspeed = fmt::format("DEEPSPEED = {}\n", as_python(deepspeed_config(point), ""));
  const bool adapters = s.adapter != nullptr, prepares = s.recipe->over_quantised;
  const std::string prepared =
      !prepares ? ""
                : fmt::format(
                      "    model = prepare_model_for_kbit_training(\n        model, "
                      "use_gradient_checkpointing={}, "
                      "gradient_checkpointing_kwargs={{\"use_reentrant\": False}})\n",
                      model::recomputes_layers(s.recomputation) ? "True" : "False");
  return fmt::format(
      program, fmt::arg("expected", expected(point)), fmt::arg("start", start_line(point)),
      fmt::arg(
          "peft",
          fmt::format("{}{}{}", adapters ? "from peft import LoraConfig, get_peft_model" : "",
                      prepares ? ", prepare_model_for_kbit_training" : "", adapters ? "\n" : "")),
      fmt::arg("quantiser", s.base != nullptr ? ", BitsAndBytesConfig" : ""),
      fmt::arg("model", python_quoted(checkpoint)), fmt::arg("sequence", s.sequence),
      fmt::arg("cards", s.parallel.cards()), fmt::arg("batch", s.batch),
      fmt::arg("passes", s.accumulated), fmt::arg("deepspeed", deepspeed),
      fmt::arg("settings", trainer_settings(point)), fmt::arg("loading", loading_arguments(point)),
      fmt::arg("prepared", prepared),
      fmt::arg("wrapped",
               adapters ? fmt::format("get_peft_model(model, {})", lora_config(point)) : "model"));
}

}  // namespace headroom::sweep
