#include "model/train/runtime.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "hardware/names.hpp"

namespace headroom::model {
namespace {

constexpr Constant context{700 * MiB, 300 * MiB, 1343 * MiB, 2,
                           "tests/accuracy/measured: 767 to 777 MiB on an H200 with torch 2.11 and "
                           "CUDA 13; transformers docs perf_train_gpu_one: 1343 MiB on a V100 with "
                           "CUDA 11, which loads all kernels at start; smaller cards need less"};
constexpr Constant unmeasured_share{0.1, 0, 0.4, 0, "unmeasured"};

/// 10th and 90th percentile of measured over expected bytes beyond weights, master copies and
/// states, of all runtimes together: 192 rows of 18 sources. Each row is estimated with overheads
/// from other sources, and n rows of a source count as sqrt(n). The band describes a new source,
/// however similar the rows of one source are, and so a runtime without rows too.
/// tests/sweep/accuracy/training_interval_test.cpp makes it anew.
constexpr double band_low = TrainingRuntime{}.spread.low, band_high = TrainingRuntime{}.spread.high;

/// DeepSpeed 0.16 docs/_pages/config-json.md: offload_optimizer to the CPU has stages 1 to 3, to
/// NVMe stage 3 alone. The Trainer and LLaMA-Factory offload by DeepSpeed.
constexpr Offloads deepspeed_offload{.states = 1, .disk = 3};
/// torch.distributed.fsdp CPUOffload, fully_shard's CPUOffloadPolicy: weights, gradients and states
/// to host memory.
constexpr Offloads fsdp_offload{.together = true};

/// Types that unsloth 2026.10 patches (models/llama.py, patch_peft_model). Falcon-H1 is left out,
/// as its feed-forward layers stay as they are, and so are mixtures, whose experts have other
/// names.
constexpr std::string_view unsloth_types[] = {"cohere", "gemma",   "gemma2", "granite",
                                              "llama",  "mistral", "qwen2",  "qwen3"};

const TrainingRuntime megatron{
    .name = "megatron",
    .source =
        "Megatron-LM core with Transformer Engine: bf16 weights, fp32 gradient buffers, "
        "distributed optimizer, fused norms, SwiGLU, rotation and cross entropy; the "
        "placeholders of fused weight gradients (one of each shape) stay allocated. ZeRO 2 and 3: "
        "Megatron-FSDP's optim_grads and optim_grads_params (param_and_grad_buffer.py)",
    .recipe = "fp32-gradients",
    .shared_recipe = "fp32-gradients",
    .zero = 1,
    .adapter_bytes = 2,
    .adapter_inputs_fp32 = false,
    .matrices = MatrixPackage::transformer_engine,
    .loss = LossKind::in_place,
    .fused_kernels = true,
    .windows_in_kernel = true,  // Transformer Engine DotProductAttention: window_size, softmax_type
    .sinks_in_kernel = true,
    .fused_step = true,
    .gradients_kept = true,
    .gradient_scratch = true,
    .sequence_parallel = true,
    .vocabulary_multiple = 128,
    .workspace = 64 * mebibyte,
    .context_bytes = context,
    .spread = {1, band_low, band_high, 22, "SimuMax B200 release, ten set-ups"},
    .fragmentation = unmeasured_share};

/// As above with special kernels and graphs for experts.
const TrainingRuntime megatron_2606 = [] {
  TrainingRuntime row = megatron;
  row.name = "megatron-26.06";
  row.source =
      "Megatron Core as in NeMo containers from 26.06 on: policies of megatron; experts are "
      "launched without waiting for their counts of tokens";
  return row;
}();

const TrainingRuntime runtime_rows[] = {
    {.name = "torch",
     .source = "a plain loop: loss = model(**batch).loss; loss.backward(); optimizer.step()",
     .recipe = "autocast",
     .shared_recipe = "autocast",
     .outputs_held = true,
     .raises_base = true,
     .modules_alone = true,
     .context_bytes = context,
     .spread = {1, band_low, band_high, 5, "PEFT method_comparison"},
     .fragmentation = {0.04, -0.03, 0.11, 8,
                       "reserved over what is counted: 0.015 in PEFT method_comparison on one "
                       "L40S, 0.06 in tests/accuracy/measured on an H200"}},
    {.name = "trainer",
     .source = "transformers 5.23 Trainer: outputs die before backward; accelerate 1.15 "
               "convert_outputs_to_fp32",
     .recipe = "autocast",
     .shared_recipe = "fp32-master",
     .logits_raised = true,
     .raises_base = true,
     .modules_alone = true,
     .zero_by_deepspeed = true,
     .offload = deepspeed_offload,
     .fused_step = true,
     .context_bytes = context,
     .spread = {1, band_low, band_high, 67,
                "QwenLM/Qwen finetuning table, one card; fms-acceleration scripts/benchmarks/refs"},
     .fragmentation = {0.22, 0.05, 0.63, 21,
                       "fms-acceleration scripts/benchmarks/refs: 0.37, the driver's figure over "
                       "what is allocated, without the context; tests/accuracy/measured: 0.08, "
                       "reserved over allocated on an H200"}},
    {.name = "trainer-v4",
     .source =
         "transformers 4 before torch 2: gradients are set to zero and stay; attention without "
         "a fused kernel (eager attention)",
     .recipe = "autocast",
     .shared_recipe = "fp32-master",
     .logits_raised = true,
     .raises_base = true,
     .fused_step = true,  // one tensor at a time
     .gradients_kept = true,
     .context_bytes = {1343 * MiB, 1343 * MiB, 1800 * MiB, 1,
                       "transformers docs perf_train_gpu_one: before the model, V100, CUDA 11"},
     .spread = {1, band_low, band_high, 5, "transformers docs perf_train_gpu_one"},
     .fragmentation = unmeasured_share},
    {.name = "deepspeed",
     .source = "DeepSpeed 0.16 runtime/zero: reduce_bucket_size 5e8 twice where communication "
               "overlaps, fp32 gradients of the partition at the step (ZeRO 3: of 1e9 elements); "
               "stage3.py grad_partitions_flat_buffer: one buffer of gradients for the whole run",
     .recipe = "fp32-master",
     .shared_recipe = "fp32-master",
     .adapter_inputs_fp32 =
         false,  // runtime/engine.py _configure_distributed_model: module.bfloat16()
     .modules_alone = true,
     .subgroup_elements = 1'000'000'000,
     .zero_alone = true,
     .offload = deepspeed_offload,
     // AutoTP: runtime/engine.py asserts a stage of at most 2 (0.16); deepspeed.ai,
     // tutorials/autotp-training
     .zero_with_tensor = 2,
     .fused_step = true,
     .gradient_buffer_from = 3,
     .reduce_elements = 1'000'000'000,
     .fetches_modules = true,
     .step_gradient_bytes = 4,
     .context_bytes = context,
     .spread = {1, band_low, band_high, 27, "QwenLM/Qwen finetuning table"},
     .fragmentation = unmeasured_share},
    {.name = "fsdp",
     .source = "torch.distributed FSDP1: flat parameters of each layer, the next one is fetched "
               "ahead; fp32 shards under MixedPrecision(param_dtype=bf16)",
     .recipe = "autocast",
     .shared_recipe = "sharded-fp32",
     .zero = 3,
     .matrices = MatrixPackage::transformer_engine,
     .modules_alone = true,
     .offload = fsdp_offload,
     .stops_early = true,
     .embedding_and_head_stay = true,
     .context_bytes = context,
     .fragmentation = unmeasured_share},
    {.name = "fsdp2",
     .source = "torch.distributed fully_shard as torchtitan uses it: fp32 shards, bf16 gathered, "
               "one layer ahead; selective recomputation of torchtitan's list of operations",
     .recipe = "autocast",
     .shared_recipe = "sharded-fp32",
     .zero = 3,
     .matrices = MatrixPackage::torchao,
     .own_layers = true,
     .outputs_held = true,
     .offload = fsdp_offload,
     .fused_step = true,
     .sequence_parallel = true,
     .selective = Selective::but_every_2nd_mm,
     .stops_early = true,
     .embedding_and_head_stay = true,
     .context_bytes = context,
     .spread = {1, band_low, band_high, 37,
                "torchtitan benchmarks and pull requests, torchao docs, lightning-thunder pull "
                "request 1528"},
     .fragmentation = {0.17, -0.06, 0.44, 33,
                       "reserved over what is counted, median of seven sources' medians: "
                       "torchtitan benchmarks and pull requests 165, 808, 1690, torchao docs"}},
    megatron,
    megatron_2606,
    {.name = "torchtune",
     .source = "torchtune 0.5 recipes: everything in bf16, CEWithChunkedOutputLoss",
     .recipe = "pure-16bit",
     .shared_recipe = "pure-16bit",
     .adapter_bytes = 2,
     .adapter_inputs_fp32 = false,
     .own_layers = true,
     .loss = LossKind::pieces,
     .context_bytes = context,
     .fragmentation = unmeasured_share},
    {.name = "litgpt",
     .source = "litgpt finetune scripts, bf16-true: LoRA dropout 0.05, logits alive until the step",
     .recipe = "pure-16bit",
     .shared_recipe = "pure-16bit",
     .adapter_bytes = 2,
     .adapter_inputs_fp32 = false,
     .adapter_dropout = true,
     .own_layers = true,
     .outputs_held = true,
     .loads_whole = true,
     .context_bytes = context,
     .spread = {1, band_low, band_high, 25, "litgpt resource tables, lightning-thunder issues"},
     .fragmentation = unmeasured_share},
    {.name = "llama-factory",
     .source = "LLaMA-Factory 0.9: transformers' Trainer; adapters in fp32, gradient checkpointing "
               "unless it is disabled (hparams/model_args.py)",
     .recipe = "autocast",
     .shared_recipe = "fp32-master",
     .adapter_inputs_fp32 = false,  // model/adapter.py: fp32 adapters, under the Trainer's autocast
     .logits_raised = true,
     .sinks_in_kernel = true,  // 0.9.5 model_utils/attention.py: FlashAttention-3 for gpt-oss
     .modules_alone = true,
     .zero_by_deepspeed = true,
     .offload = deepspeed_offload,
     .fused_step = true,
     .recomputation = Recomputation::full,
     .context_bytes = context,
     .spread = {1, band_low, band_high, 6, "LLaMA-Factory wiki Performance-comparison"},
     .fragmentation = unmeasured_share},
    {.name = "unsloth",
     .source = "Unsloth's documentation: Trainer with fused kernels and a chunked loss; "
               "unsloth 2026.10 models/llama.py: use_gradient_checkpointing = \"unsloth\"",
     .recipe = "pure-16bit",
     .shared_recipe = "pure-16bit",
     .adapter_inputs_fp32 = false,  // under the Trainer's autocast, as its scripts ask for it
     .fused_adapters = unsloth_types,
     .loss = LossKind::chunked,
     .fused_kernels = true,
     .gates_in_place = true,
     .windows_in_kernel = true,  // utils/attention_dispatch.py: flash-attn, else xformers
     .sinks_in_kernel = true,    // unsloth_zoo temporary_patches/gpt_oss.py: FlexAttention
     .recomputation = Recomputation::offloaded,
     .context_bytes = context,
     .spread = {1, band_low, band_high, 8, "LLaMA-Factory wiki Performance-comparison"},
     .fragmentation = unmeasured_share},
};

}  // namespace

std::span<const TrainingRuntime> training_runtimes() { return runtime_rows; }

const TrainingRuntime& training_runtime(std::string_view name) {
  std::string wanted = lower(name);
  if (wanted == "transformers" || wanted == "hf-trainer") wanted = "trainer";
  if (wanted == "fsdp1") wanted = "fsdp";
  if (wanted == "torchtitan") wanted = "fsdp2";
  if (wanted == "peft" || wanted == "accelerate") wanted = "torch";
  std::vector<std::string> known;
  for (const TrainingRuntime& row : runtime_rows) {
    if (row.name == wanted) return row;
    known.emplace_back(row.name);
  }
  throw unknown_name("training runtime", name, known);
}

const TrainingRuntime& under_zero(const TrainingRuntime& asked, int zero) {
  if (zero == 0 || !asked.zero_by_deepspeed) return asked;
  static const std::vector<TrainingRuntime> shared = [] {
    std::vector<TrainingRuntime> rows;
    for (const TrainingRuntime& row : runtime_rows) {
      if (!row.zero_by_deepspeed) continue;
      TrainingRuntime& made = rows.emplace_back(training_runtime("deepspeed"));
      made.paced = made.name;
      made.name = row.name;
      made.recomputation = row.recomputation;
      made.zero_alone = row.zero_alone;
      made.sinks_in_kernel = row.sinks_in_kernel;
    }
    return rows;
  }();
  return *std::ranges::find(shared, asked.name, &TrainingRuntime::name);
}

TrainingRuntime without_measurements(TrainingRuntime row) {
  row.context_bytes = context;
  row.fragmentation = unmeasured_share;
  row.spread = TrainingRuntime{}.spread;
  return row;
}

}  // namespace headroom::model
