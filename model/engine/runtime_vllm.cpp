// Rows of vLLM, by age.
#include "model/engine/runtime_families.hpp"

namespace headroom::model {
namespace {

constexpr auto caches_of_vllm = std::to_array<CacheFormat>(
    {{"fp16"}, {"bf16"}, {"fp32"}, {"fp8", "fp8_e4m3"}, {"fp8_e5m2", "fp8_e5m2"}});
constexpr auto vllm_ranks = std::to_array<Size>({1, 8, 16, 32, 64, 128, 256, 320, 512});
// vllm-project/vllm pull requests 24907 and 4942: BART from 0.5.5 to 0.10, Whisper from 0.7, T5
// never.
constexpr auto bart = std::to_array<std::string_view>({"BartForConditionalGeneration"});
constexpr auto whisper = std::to_array<std::string_view>({"WhisperForConditionalGeneration"});
constexpr auto bart_and_whisper = std::to_array<std::string_view>(
    {"BartForConditionalGeneration", "WhisperForConditionalGeneration"});

// layers/fused_moe/oracle/mxfp4.py, mxfp4_round_up_hidden_size_and_intermediate_size: Marlin 128
// and 256, FlashInfer's kernels on compute capability 10 256 and 256, Triton's 64. What Triton's
// swizzle makes of the scales is beside them (quantization/mxfp4.py,
// process_weights_after_loading).
constexpr ExpertTiles marlin(double from, double before) { return {from, before, 128, 256, false}; }
constexpr ExpertTiles flashinfer{10, 11, 256, 256, false};
constexpr auto tiles_by_triton =
    std::to_array<ExpertTiles>({marlin(0, 9), {9, 10, 64, 1, true}, flashinfer, marlin(11, 99)});
constexpr auto tiles_by_marlin =
    std::to_array<ExpertTiles>({marlin(0, 10), flashinfer, marlin(11, 99)});

}  // namespace

Engine vllm() {
  Engine r = start();
  r.name = r.family = "vllm";
  r.version = "0.19";
  r.source = "vLLM 0.19: gpu_memory_utilization 0.9, block size 16, chunked prefill";
  r.vendors = of_servers;
  r.encoder_decoders = whisper;
  r.caches = caches_of_vllm;
  r.caches_source = "vLLM 0.15 config/cache.py: CacheDType";
  r.split = Split::tensors;
  r.admission = Admission::as_needed;   // v1/core/sched/scheduler.py: allocate_slots, preempted
  r.expert_spread = ExpertSpread::all;  // fused_moe/config.py FusedMoEParallelConfig.make
  r.strict_positions = r.holds_back = r.sparse_attention = r.whole_tiles = r.graphs = true;
  r.continuous_batching = true;
  r.windows = Windows::pages;
  r.rotary = Rotary::shared;  // layers/rotary_embedding: one for each set of parameters
  r.blocks = Blocks::fused;
  r.vocabulary_multiple = 64;
  r.expert_tiles = tiles_by_triton;
  r.kv_block = 16;
  r.prefill_chunk = 8192;
  // FlashAttention 2 flash_fwd_launch_template.h, run_mha_fwd_splitkv_dispatch: with pages, blocks
  // of 64 queries and 80 KiB; FlashAttention 3 has half as many of 128.
  r.attention_rows = 64;
  // lora/layers/base_linear.py create_lora_weights; config/lora.py MaxLoRARanks, lora_dtype.
  r.adapters = AdapterMemory::slots;
  r.adapter_ranks = vllm_ranks;
  r.adapter_bytes = 2;
  r.draft_vocabulary = 0;  // config/speculative.py verify_equal_vocab_size_if_draft_model
  r.utilization = 0.9;
  r.residual_copies = 4;
  // engine/arg_utils.py get_batch_defaults of `vllm serve`; logits in 16 bit and fp32, their
  // softmax and as many random numbers: v1/sample/sampler.py, ops/topk_topp_triton.py.
  r.start_pass = {.sequences = 256,
                  .tokens = 2048,
                  .sequences_on_large = 1024,
                  .tokens_on_large = 8192,
                  .sampling_bytes = 14};
  // utils/mem_utils.py memory_profiling: the driver's context is outside the engine's share, and
  // peaks are as allocated.
  r.context_bytes = guess(256 * MiB, 64 * MiB, 600 * MiB);
  r.communication_bytes = {1870 * MiB, 1840 * MiB, 1950 * MiB, 4,
                           "llm-d-incubation/llm-d-planner docs/accuracy, vLLM 0.19.0 on H100: "
                           "2.07 and 2.13 GiB beside PyTorch's on 2 and 4 cards, 0.25 on one"};
  r.host_bytes = guess(4096 * MiB, 2048 * MiB, 8192 * MiB);
  r.fragmentation = guess(0, 0, 0.02);
  r.load_fixed_s = guess(20.0, 8.0, 60.0);
  return r;
}

namespace {

/// Before 0.16 tokens are drawn after sorting the logits: two sorted copies with 64-bit indices.
Engine vllm_of_2025() {
  Engine r = vllm();
  r.name = "vllm-0.15";
  r.version = "0.11 to 0.15";
  r.source = "vLLM 0.11 v1/sample/ops/topk_topp_sampler.py: logits.sort(); as 0.19 beside";
  r.start_pass.sampling_bytes = 38;
  return r;
}

/// Before 0.11 its wheels come without Triton's kernels for MXFP4.
Engine vllm_without_triton_kernels() {
  Engine r = vllm_of_2025();
  r.name = "vllm-0.10";
  r.version = "0.10";
  r.source = "vLLM 0.10.1 quantization/mxfp4.py: Marlin without triton_kernels; as 0.11 beside";
  r.expert_tiles = tiles_by_marlin;
  return r;
}

/// Before the hybrid allocator (pull request 17996, of 0.9.1) every layer holds the whole context
/// where some layer does.
Engine vllm_without_hybrid_caches() {
  Engine r = vllm_without_triton_kernels();
  r.name = "vllm-0.9";
  r.version = "0.8 to 0.9";
  r.source = "vLLM 0.9.0 v1/core/kv_cache_utils.py: unify_hybrid_kv_cache_specs; as 0.10 beside";
  r.windows = Windows::whole;
  return r;
}

/// Before 0.8 a prompt goes through in one piece, and memory is set aside for the longest.
Engine vllm_of_2024() {
  Engine r = vllm_without_hybrid_caches();
  r.name = "vllm-0.7";
  r.version = "to 0.7";
  r.source = "vLLM 0.6 config.py: chunked prefill off up to 32768 tokens; block size 16";
  r.encoder_decoders = bart_and_whisper;
  // blog.vllm.ai, 2024-09-05: of Llama 3 8B's time on an H100 29 % are schedule and inputs, in
  // Python between steps; V1 was written for that.
  r.step_s = guess(1.2e-3, 0.5e-3, 3e-3);
  r.prefill_chunk = 0;
  r.long_prefill_chunk = 512;  // config.py SchedulerConfig; 2048 from 0.6.5 on
  r.prompts_apart = true;
  r.start_pass.tokens = r.start_pass.tokens_on_large = 0;
  r.start_pass.least_tokens = 2048;
  r.start_pass.sequences_on_large = 256;
  return r;
}

/// Before 0.6 decode steps beyond max_context_len_to_capture are not captured as CUDA graphs.
Engine vllm_of_early_2024() {
  Engine r = vllm_of_2024();
  r.name = "vllm-0.5";
  r.version = "to 0.5";
  r.source = "vLLM 0.4 config.py: max_context_len_to_capture 8192; as 0.7 beside";
  r.encoder_decoders = bart;
  r.graph_tokens = 8192;
  r.long_prefill_chunk = 0;
  return r;
}

/// Before 0.2.6 no step is captured as a CUDA graph.
Engine vllm_of_2023() {
  Engine r = vllm_of_early_2024();
  r.name = "vllm-0.2";
  r.version = "to 0.2.5";
  r.source = "vLLM 0.2.5 worker/worker.py: the model is called; as 0.5 beside";
  r.graph_tokens = 1;
  return r;
}

}  // namespace

std::vector<Engine> vllm_rows() {
  return {vllm(),
          vllm_of_2025(),
          vllm_without_triton_kernels(),
          vllm_without_hybrid_caches(),
          vllm_of_2024(),
          vllm_of_early_2024(),
          vllm_of_2023()};
}

}  // namespace headroom::model
