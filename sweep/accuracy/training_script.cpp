#include "sweep/accuracy/training_script.hpp"

#include <fmt/format.h>

#include <array>

#include "hardware/names.hpp"
#include "hardware/text.hpp"

namespace headroom::sweep {
namespace {

constexpr auto scripts = std::to_array<Script>({
    {"megatron-bridge 26.06", "megatron-26.06", "megatron-26.06", "", GiB,
     TrainingStatistic::allocated, ""},
    {"megatron-bridge 26.08", "megatron-26.06", "megatron-26.06", "", GiB,
     TrainingStatistic::allocated, ""},
    {"megatron", "megatron", "megatron", "", GiB, TrainingStatistic::allocated, ""},
    // method_comparison/MetaMathQA/run.py: weights loaded in bf16, a loop of its own
    {"peft method_comparison", "torch", "torch", "pure-16bit", GiB, TrainingStatistic::reserved,
     "q_proj v_proj"},
    // finetune/lora.py: torch.cuda.max_memory_allocated() / 1e9; queries and values
    {"litgpt", "litgpt", "litgpt", "", GB, TrainingStatistic::allocated, "queries-values",
     // FSDPStrategy(activation_checkpointing_policy={Block})
     true},
    // benchmark_litgpt.py: model.to(torch.bfloat16)
    {"torchtitan-like loop", "fsdp2", "fsdp2", "pure-16bit", GiB, TrainingStatistic::allocated, ""},
    // commits of 2025, whose --training.compile compiles the loss too
    {"torchtitan 2025", "fsdp2", "fsdp2", "", GiB, TrainingStatistic::reserved, "", false, "",
     model::LossKind::compiled},
    {"torchtitan", "fsdp2", "fsdp2", "", GiB, TrainingStatistic::reserved, ""},
    {"torchtitan", "fsdp2", "fsdp2", "", GiB, TrainingStatistic::reserved, "", false, "_2025",
     model::LossKind::compiled},
    {"torchtune", "torchtune", "torchtune", "", GiB, TrainingStatistic::reserved, ""},
    // finetune.py: bf16=True on weights in bf16; c_attn, c_proj, w1, w2
    {"finetune.py", "trainer", "deepspeed", "", GB, TrainingStatistic::used, "all-linear"},
    // perf_train_gpu_one: transformers 4 on a V100
    {"hf trainer", "trainer-v4", "deepspeed", "", GB, TrainingStatistic::used, "", false,
     "perf_train_gpu_one"},
    {"hf trainer", "trainer", "deepspeed", "", GB, TrainingStatistic::used, ""},
    {"peft/trl", "trainer", "deepspeed", "", GB, TrainingStatistic::used, ""},
    {"peft+accelerate", "torch", "deepspeed", "", GB, TrainingStatistic::used, ""},
    {"llama-factory", "llama-factory", "deepspeed", "", GB, TrainingStatistic::used, ""},
    // InternLM/InternEvo: kernels and ZeRO 1 as Megatron has; times alone are published
    {"internevo", "megatron", "megatron", "", GB, TrainingStatistic::allocated, ""},
    // mosaicml/llm-foundry: Composer over torch's FSDP
    {"llm-foundry", "fsdp", "fsdp", "", GB, TrainingStatistic::allocated, ""},
    // AnswerDotAI/fsdp_qlora: torch's FSDP around quantised layers, a loop of its own
    {"fsdp_qlora", "fsdp", "fsdp", "", GiB, TrainingStatistic::reserved, ""},
    // foundation-model-stack/fms-fsdp
    {"fms-fsdp", "fsdp", "fsdp", "", GB, TrainingStatistic::allocated, ""},
    {"colossalai", "torch", "deepspeed", "", GB, TrainingStatistic::allocated, ""},
});

}  // namespace

const Script& script_of(const Measurement& row) {
  const auto framework = row.setting("framework");
  if (!framework) throw Skipped(Skip::setting, "the framework is not stated");
  const std::string written = lower(*framework);
  const Script* found = nullptr;  // one that names the source counts
  for (const Script& each : scripts)
    if (written.starts_with(each.starts) && contains(row["source"], each.source) &&
        (!found || !each.source.empty()))
      found = &each;
  if (found) return *found;
  throw Skipped(Skip::runtime, fmt::format("framework '{}'", written));
}

TrainingStatistic statistic_of(const Measurement& row, const Script& script) {
  const std::string& quantity = row["quantity"];
  if (quantity == "peak_allocated_per_gpu" || quantity == "max_gpu_memory" ||
      quantity == "peak_memory_active")
    return TrainingStatistic::allocated;
  if (quantity == "max_memory_reserved" || quantity == "peak_reserved_training")
    return TrainingStatistic::reserved;
  if (quantity == "gpu_memory_nvml") return TrainingStatistic::used;
  if (quantity == "cpu_memory") return TrainingStatistic::host;
  if (quantity == "peak_memory_per_gpu" || quantity == "gpu_memory_per_gpu" ||
      quantity == "gpu_memory" || quantity == "gpu_memory_total")
    return script.statistic;
  throw Skipped(Skip::statistic, quantity);
}

double measured_of(const Measurement& row, const Script& script) {
  const auto value = row.number("value");
  if (!value) throw Skipped(Skip::statistic, "no value");
  const std::string& unit = row["unit"];
  const double scale = unit == "GB"      ? script.gigabyte
                       : unit == "GiB"   ? GiB
                       : unit == "MiB"   ? MiB
                       : unit == "bytes" ? 1
                                         : 0;
  if (scale == 0) throw Skipped(Skip::statistic, fmt::format("unit '{}'", unit));
  return *value * scale;
}

}  // namespace headroom::sweep
