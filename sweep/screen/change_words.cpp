// Words of what can be changed of a training step.
#include <fmt/format.h>

#include "sweep/screen/advice_words.hpp"

namespace headroom::sweep {
namespace {

std::string flags_of(const model::StepOption& option) {
  using enum model::StepOption::Kind;
  switch (option.kind) {
    case fused_attention:
      return "--attention flash";
    case flash_attention:
      return fmt::format("--attention flash_attention_{}", option.amount);
    case fused_loss:
      return "--fused-loss";
    case fused_kernels:
      return "--liger";
    case smaller_passes:
      return fmt::format("--batch 1 --grad-accum {}", option.amount);
    case optimizer_8bit:
      return "--optimizer adamw-8bit";
    case pure_16bit:
      return "--recipe pure-16bit";
    case unraised:
      return option.amount > 0 ? "--recipe pure-16bit --checkpointing full" : "--recipe pure-16bit";
    case zero_3:
      return "--zero 3";
    case more_replicas:
      return fmt::format("--dp {} --zero 3", option.amount);
    case recompute_all:
      return "--checkpointing full";
    case optimizer_on_host:
      return option.amount > 0 ? fmt::format("--zero {} --offload-optimizer cpu", option.amount)
                               : "--offload-optimizer cpu";
    case all_on_host:
      return "--offload-params cpu --offload-optimizer cpu";
    case shorter_sequence:
      return fmt::format("--seq {}", option.amount);
    case quantised_base:
      return "--qlora";
    case lora:
      return fmt::format("--lora --lora-rank {} --lora-targets all-linear", option.amount);
    case qlora:
      return fmt::format("--qlora --lora-rank {} --lora-targets all-linear", option.amount);
  }
  return {};
}

std::string_view effect_of(model::StepOption::Kind kind) {
  using enum model::StepOption::Kind;
  switch (kind) {
    case fused_attention:
    case flash_attention:
      return "";
    case fused_loss:
      return "logits in chunks";
    case fused_kernels:
      return "kernels of another package";
    case smaller_passes:
      return "smaller micro-batches with gradient accumulation";
    case optimizer_8bit:
      return "states in 8 bit";
    case pure_16bit:
      return "small updates are lost to rounding";
    case unraised:
      return "norms, embeddings and head in 16 bit too, as TRL has them";
    case zero_3:
      return "weights are exchanged between cards";
    case more_replicas:
      return "every card of the machine, with weights exchanged between them";
    case recompute_all:
      return "forward twice";
    case optimizer_on_host:
      return "the step runs on the CPU";
    case all_on_host:
      return "the step runs on the CPU, weights come from there";
    case shorter_sequence:
      return "shorter texts";
    case quantised_base:
      return "frozen weights in 4 bit (QLoRA)";
    case lora:
      return "adapters alone are trained";
    case qlora:
      return "adapters only, with 4-bit weights (QLoRA)";
  }
  return "";
}

}  // namespace

std::string change_flags(const model::Change& change) {
  std::string text;
  for (const model::StepOption& option : change.options)
    text += (text.empty() ? "" : " ") + flags_of(option);
  return text;
}

std::string change_effect(const model::Change& change) {
  std::string text;
  for (const model::StepOption& option : change.options)
    if (const auto effect = effect_of(option.kind); !effect.empty())
      text += (text.empty() ? "" : "; ") + std::string(effect);
  return text;
}

}  // namespace headroom::sweep
