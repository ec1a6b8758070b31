#include "model/runtime_rows.hpp"

#include <array>

namespace headroom::model {
namespace {

constexpr double MiB = 1048576.0;
constexpr std::string_view rule = "rule of thumb, unmeasured";

constexpr auto torch_families = std::to_array<SchemeFamily>(
    {SchemeFamily::plain, SchemeFamily::bitsandbytes, SchemeFamily::gptq, SchemeFamily::awq,
     SchemeFamily::fp8, SchemeFamily::fp4, SchemeFamily::compressed_tensors});
// transformers 5.23 quantizers/quantizer_bnb_8bit.py and _4bit.py refuse a map with both cards and
// host.
constexpr auto packed_on_load = std::to_array<SchemeFamily>({SchemeFamily::bitsandbytes});
constexpr auto llama_cpp_families =
    std::to_array<SchemeFamily>({SchemeFamily::plain, SchemeFamily::gguf, SchemeFamily::fp4});
constexpr auto expert_families =
    std::to_array<SchemeFamily>({SchemeFamily::plain, SchemeFamily::gguf, SchemeFamily::fp4,
                                 SchemeFamily::fp8, SchemeFamily::compressed_tensors});

// Makers of cards, by each project's notes on installation.
constexpr auto of_nvidia = std::to_array<std::string_view>({"nvidia"});
constexpr auto of_nvidia_amd = std::to_array<std::string_view>({"nvidia", "amd"});
constexpr auto of_torch = std::to_array<std::string_view>({"nvidia", "amd", "intel"});
constexpr auto of_desktops = std::to_array<std::string_view>({"nvidia", "amd", "intel", "apple"});
constexpr auto of_servers =
    std::to_array<std::string_view>({"nvidia", "amd", "intel", "google", "aws"});

// Formats of keys and values. Those of weights' own width are the default of every engine.
constexpr auto caches_of_torch = std::to_array<CacheFormat>({{"fp16"}, {"bf16"}, {"fp32"}});
// Values in groups of 64 with scale and zero point; the last 128 tokens in 16 bit are left out.
constexpr auto caches_of_transformers = std::to_array<CacheFormat>(
    {{"fp16"}, {"bf16"}, {"fp32"}, {"int8_g64", "8"}, {"int4_g64", "4"}, {"int2_g64", "2"}});
constexpr auto caches_of_llama_cpp = std::to_array<CacheFormat>({{"fp16", "f16"},
                                                                 {"bf16", "bf16"},
                                                                 {"fp32", "f32"},
                                                                 {"q8_0", "q8_0"},
                                                                 {"q5_1", "q5_1"},
                                                                 {"q5_0", "q5_0"},
                                                                 {"q4_1", "q4_1"},
                                                                 {"q4_0", "q4_0"},
                                                                 {"iq4_nl", "iq4_nl"}});
constexpr auto caches_of_vllm = std::to_array<CacheFormat>(
    {{"fp16"}, {"bf16"}, {"fp32"}, {"fp8", "fp8_e4m3"}, {"fp8_e5m2", "fp8_e5m2"}});
constexpr auto caches_of_tensorrt =
    std::to_array<CacheFormat>({{"fp16"}, {"bf16"}, {"fp8", "fp8"}, {"nvfp4", "nvfp4"}});
constexpr auto caches_of_exllama =
    std::to_array<CacheFormat>({{"fp16"}, {"fp8", "FP8"}, {"q8_0", "Q8"}, {"q4_0", "Q4"}});
constexpr auto caches_of_flexgen =
    std::to_array<CacheFormat>({{"fp16"}, {"fp32"}, {"int4_g64", "--compress-cache"}});

constexpr auto vllm_ranks = std::to_array<Size>({1, 8, 16, 32, 64, 128, 256, 320, 512});

// vllm-project/vllm pull requests 24907 and 4942: BART from 0.5.5 to 0.10, Whisper from 0.7, T5
// never.
/// Of programs that run decoders alone.
constexpr std::span<const std::string_view> no_encoder_decoders;
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

constexpr Constant guess(double value, double low, double high) {
  return {value, low, high, 0, rule};
}

/// What no row says otherwise.
Runtime start() {
  Runtime r{};
  r.vendors = of_torch;
  r.holds = torch_families;
  r.caches = caches_of_torch;
  r.caches_source = "PyTorch: caches have the type of what is computed";
  r.split = Split::layers;
  r.offload = Offload::none;
  r.launch = Launch::added;
  r.latent_cache = true;
  r.kv_block = 1;
  r.vocabulary_multiple = 1;
  r.windows = Windows::whole;
  r.rotary = Rotary::computed;
  r.blocks = Blocks::exact;
  r.state_bytes = 2;
  r.residual_copies = 2;
  r.widest_share = 1;
  r.logits = Positions::last;
  r.logits_bytes = 4;
  r.matrix_units = true;
  r.utilization = 1.0;
  r.draft_vocabulary = -1;
  r.context_bytes = guess(520 * MiB, 300 * MiB, 900 * MiB);
  r.communication_bytes = guess(0, 0, 1024 * MiB);
  r.workspace_bytes = {8.125 * MiB, 8.125 * MiB, 32 * MiB, 0, "PyTorch: CUDA semantics, cuBLAS"};
  r.host_bytes = guess(1024 * MiB, 600 * MiB, 4096 * MiB);
  r.fragmentation = guess(0.02, 0.0, 0.08);
  for (auto& by_width : r.rates)
    for (Rates& rates : by_width)
      rates = {guess(0.78, 0.40, 0.95), guess(0.40, 0.15, 0.70), guess(0.22, 0.10, 0.40),
               guess(5e-6, 1e-6, 20e-6),
               // Tiles of 16 to 128 tokens, of which the last is half empty on average.
               guess(24, 6, 96), guess(0.80, 0.30, 1.20)};
  r.score_traffic = guess(20, 8, 40);  // written, scaled and masked, read for the softmax and after
  // ggml: some fifty reads and writes of a hidden state in fp32, part of them within caches.
  r.activation_traffic = guess(120, 60, 240);
  r.queue = guess(0.1, 0.03, 0.5);
  r.request_s = guess(0.0125, 0.0025, 0.05);
  // fused_moe.py: top-k, counts, sorting, products of all experts twice, activation, sum.
  r.mixture_kernels = guess(9, 4, 25);
  r.expert_kernels = guess(1.5, 0.5, 4);     // modeling_qwen3_moe.py: for expert in experts
  r.packed_kernels = guess(0.6, 0.25, 1.5);  // a launch, where others are of modules
  r.step_s = guess(0.4e-3, 0.1e-3, 2e-3);
  r.sequence_s = guess(8e-6, 2e-6, 40e-6);
  r.expert_cost = guess(1.1, 0.7, 1.8);  // fewer are touched than by uniform routing, less evenly
  r.eager_kernel_s = guess(25e-6, 8e-6, 60e-6);  // a Python call or two, dispatch, launch
  r.score_compute = guess(0.40, 0.15, 0.70);     // FlashAttention 2 and 3 on A100 and H100
  r.repeat_bandwidth = guess(3.3e11, 1e11, 6e11);
  r.cache_cost = guess(1.5, 0.7, 4.0);
  r.stream_bandwidth = guess(0.60, 0.30, 0.85);
  r.cpu_bandwidth = guess(0.60, 0.40, 0.80);
  r.cpu_compute = guess(0.40, 0.20, 0.70);
  r.thread_bandwidth = guess(12e9, 5e9, 25e9);  // outstanding cache lines of a core / latency
  r.crossing_s = guess(100e-6, 25e-6, 400e-6);  // wait for one device, copy, start the next
  r.far_bandwidth = guess(0.50, 0.10, 0.95);
  r.disk_bandwidth = guess(0.60, 0.30, 0.90);
  r.reduce_latency_s = guess(10e-6, 5e-6, 25e-6);
  r.reduce_over_bus_s = guess(60e-6, 20e-6, 250e-6);
  r.link_bandwidth = guess(0.6, 0.3, 0.95);  // nccl-tests: a few megabytes, and very many
  r.load_read_bandwidth = guess(3.5e9, 1e9, 2e10);
  r.load_copy_bandwidth = guess(5.5e9, 1.5e9, 1.2e10);
  r.load_fixed_s = guess(3.0, 1.0, 20.0);
  r.memory_interval = guess(1, 0.90, 1.15);
  r.decode_interval = guess(1, 0.50, 2.0);
  r.prefill_interval = guess(1, 0.40, 2.5);
  r.offload_interval = guess(1, 0.40, 2.5);
  r.serving_interval = guess(1, 0.50, 2.0);
  r.first_token_interval = guess(1, 0.40, 2.5);
  r.throughput_interval = guess(1, 0.40, 2.5);
  r.load_interval = guess(1, 0.25, 4.0);
  return r;
}

Runtime transformers() {
  Runtime r = start();
  r.name = r.family = "transformers";
  r.version = "5.23";
  r.source =
      "transformers 5.23 and accelerate 1.15: big model inference, cache_utils.py, "
      "integrations/moe.py (grouped_mm), sdpa_attention.py (enable_gqa, pack_gqa)";
  r.vendors = of_desktops;
  r.whole_only = packed_on_load;
  r.caches = caches_of_transformers;
  r.caches_source = "transformers 4.57 cache_utils.py: QuantizedCache, HQQQuantizedLayer";
  r.offload = Offload::stream;
  r.host_weights = HostWeights::mapped;  // modeling_utils.py: slices of safe_open, cast in place
  r.launch = Launch::overlapped;
  r.disk = r.cpu = r.cache_optional = r.whole_tiles = true;
  r.windows = Windows::capped;
  r.blocks = Blocks::apart;
  // modeling_falcon.py, _split_heads: keys and values of the newer layout are repeated before they
  // are kept. modeling_deepseek_v32.py: what the indexer does not pick is masked, not left out.
  r.repeated_heads = true;
  // PEFT 0.21 peft_model.py: autocast_adapter_dtype, 16-bit adapters are copied to fp32.
  r.adapters = AdapterMemory::loaded;
  r.adapter_bytes = 4;
  r.draft_vocabulary = Size{1} << 40;  // candidate_generator.py: other tokenizers are translated
  r.cache_growth = Growth::by_layer;
  // About a hundred operations a layer, each called from Python: seven for a matrix or a norm.
  for (auto& by_width : r.rates)
    for (Rates& rates : by_width) {
      rates.decode_bandwidth = guess(0.50, 0.25, 0.80);
      rates.kernel_s = guess(70e-6, 30e-6, 150e-6);
    }
  // The layer's input, the sum after attention, its norm, and the embeddings that the model holds.
  r.residual_copies = 4;
  // Quantizers replace modules after tie_weights: measured on 4.51.
  r.unties_fp8 = true;
  r.logits_bytes = 6;    // as multiplied, and in fp32
  r.returned_bytes = 4;  // the latter
  return r;
}

/// Before 5 each expert is called from Python, and attention gets keys and values of each query
/// head: expand and reshape of repeat_kv copy them.
Runtime transformers_4() {
  Runtime r = transformers();
  r.name = "transformers-4.57";
  r.version = "4.45 to 4.57";
  r.source = "transformers 4.51 modeling_qwen3_moe.py, integrations/sdpa_attention.py: repeat_kv";
  r.experts_looped = r.repeats_to_attend = true;
  r.latent_cache = false;  // modeling_deepseek_v3.py: K and V are kept as expanded
  return r;
}

/// Before 4.45 the logits of the whole prompt are made and copied to fp32.
Runtime transformers_of_2024() {
  Runtime r = transformers_4();
  r.name = "transformers-4.44";
  r.version = "4.36 to 4.44";
  r.source =
      "transformers 4.38 modeling_qwen2.py: logits of every position, .float(); DynamicCache";
  r.logits = Positions::all;
  r.rotary = Rotary::each;
  return r;
}

/// Before 4.36 caches are tuples: the old ones live until the pass has made all new ones.
Runtime transformers_of_2023() {
  Runtime r = transformers_of_2024();
  r.name = "transformers-4.35";
  r.version = "4.28 to 4.35";
  r.source = "transformers 4.31 generation/utils.py: past_key_values as tuples, torch.cat";
  r.rotary = Rotary::computed;
  r.cache_growth = Growth::whole;
  return r;
}

/// Before PyTorch 1.13 a context loads every kernel at once.
Runtime transformers_of_2022() {
  Runtime r = transformers_of_2023();
  r.name = "transformers-4.20";
  r.version = "to 4.20";
  r.context_bytes = {1343 * MiB, 1100 * MiB, 1700 * MiB, 1,
                     "transformers 4.27 docs, perf_train_gpu_one: one kernel loaded, torch 1.x"};
  return r;
}

Runtime llama_cpp() {
  Runtime r = start();
  r.name = r.family = "llama.cpp";
  r.version = "b6400";
  r.with_vulkan = "llama.cpp-vulkan";
  r.source = "llama.cpp src/llama-model.cpp, llama-kv-cache-iswa.cpp, -ngl semantics; ggml-alloc.c";
  r.vendors = of_desktops;
  r.holds = llama_cpp_families;
  r.caches = caches_of_llama_cpp;
  r.caches_source = "llama.cpp common/arg.cpp: kv_cache_types";
  r.offload = Offload::compute;
  r.host_weights = HostWeights::fetched;  // llama-mmap.cpp: MAP_POPULATE
  r.disk = r.cpu = r.input_on_cpu = r.experts_apart = true;
  r.windows = Windows::capped;
  r.continuous_batching = true;  // llama-server
  r.latent_values = true;        // until llama.cpp pull request 19067, 2026-01: K and V are apart
  r.window_slack = 512;
  r.kv_block = 256;
  r.state_bytes = 4;
  r.prefill_chunk = 512;
  r.activation_bytes = 4;
  r.widest_share = 2.0 / 3;   // the product overwrites the gate
  r.logits = Positions::all;  // of a chunk: the graph is reserved for as many outputs
  r.workspace_bytes = {0, 0, 0, 0, "ggml pools are in context_bytes"};
  r.fragmentation = {0, 0, 0, 0, "ggml-alloc.c: one buffer of the exact size"};
  r.host_bytes = guess(512 * MiB, 256 * MiB, 1024 * MiB);
  r.flash = FlashAttention::on;  // common/arg.cpp: --flash-attn auto
  r.score_bytes = 4;
  r.layer_kernels = 48;                  // nodes of llm_build_llama and conversions for cuBLAS
  r.host_prompts = HostPrompts::copied;  // ggml_backend_cuda_device_offload_op: min_batch_size
  // Llama-3.1-70B in fp16 on two EPYC 9175F, 819 GB/s together: 2.4 tokens/s as it comes, 4.31 with
  // the weights where the threads are.
  r.far_bandwidth = {0.35, 0.02, 1.0, 0, "ggml-org/llama.cpp/issues/11744, unmeasured otherwise"};
  r.adapters = AdapterMemory::loaded;  // llama-adapter.cpp: in the adapted tensor's own buffer
  r.adapter_bytes = 4;                 // convert_lora_to_gguf.py: --outtype f32
  r.draft_vocabulary = 128;            // common/speculative.cpp: SPEC_VOCAB_MAX_SIZE_DIFFERENCE
  r.activations_in_memory = true;
  r.packed_products = PackedProducts::bytes;  // ggml_cuda_should_use_mmq
  r.half_accumulate = true;                   // cublasGemmEx with CUBLAS_COMPUTE_16F
  return r;
}

/// Before b6325 attention is without a flash kernel unless asked for.
Runtime llama_cpp_of_2024() {
  Runtime r = llama_cpp();
  r.name = "llama.cpp-b6324";
  r.version = "to b6324";
  r.with_vulkan = {};
  r.source = "llama.cpp b2800 llama.cpp: llm_build_kqv without flash_attn; ggml-alloc.c";
  r.flash = FlashAttention::off;
  return r;
}

/// Before b3121 (llama.cpp pull requests 7676 and 7860, June 2024) packed weights are unpacked for
/// cuBLAS; only later do int8 tensor cores multiply them as they are.
Runtime llama_cpp_of_early_2024() {
  Runtime r = llama_cpp_of_2024();
  r.name = "llama.cpp-b3120";
  r.version = "to b3120";
  r.with_vulkan = "llama.cpp-vulkan-b4282";
  r.source = "llama.cpp b2800 ggml-cuda.cu: ggml_cuda_op_mul_mat_cublas; llm_build_kqv";
  r.packed_products = PackedProducts::in_memory_or_bytes;
  return r;
}

/// Built with BLAS, which takes the large products of host layers before a card can.
Runtime llama_cpp_with_blas() {
  Runtime r = llama_cpp();
  r.name = "llama.cpp-blas";
  r.version = "built with BLAS";
  r.with_vulkan = {};
  r.source = "llama.cpp ggml-blas.cpp: mul_mat of 32 tokens or more is its own";
  r.host_prompts = HostPrompts::stay;
  return r;
}

/// Shaders unpack weights where they multiply them, in 16 bit, by matrix units where a driver
/// offers those (VK_KHR_cooperative_matrix, VK_NV_cooperative_matrix2).
Runtime llama_cpp_with_vulkan() {
  Runtime r = llama_cpp();
  r.name = "llama.cpp-vulkan";
  r.version = "b4283 on, Vulkan";
  r.source = "llama.cpp ggml-vulkan.cpp, vulkan-shaders/mul_mm.comp, mul_mm_cm2.comp";
  r.vendors = of_desktops;
  r.backend = Backend::vulkan;
  r.packed_products = PackedProducts::in_registers;
  return r;
}

/// To b4282 (llama.cpp pull requests 10206 and 10597, December 2024) by shader cores alone, and
/// without a flash kernel.
Runtime llama_cpp_with_vulkan_of_2024() {
  Runtime r = llama_cpp_with_vulkan();
  r.name = "llama.cpp-vulkan-b4282";
  r.version = "to b4282, Vulkan";
  r.source = "llama.cpp b4200 ggml-vulkan.cpp, vulkan-shaders/mul_mm.comp; llm_build_kqv";
  r.matrix_units = false;
  r.flash = FlashAttention::never;
  return r;
}

/// A fork of llama.cpp with kernels of its own for the CPU, mixtures and its formats.
Runtime ik_llama_cpp() {
  Runtime r = llama_cpp();
  r.name = "ik_llama.cpp";
  r.version = "2025";
  r.source = "ikawrakow/ik_llama.cpp: as llama.cpp beside ggml/src/iqk and its CUDA kernels";
  r.vendors = of_nvidia_amd;
  r.with_vulkan = {};
  return r;
}

Runtime ik_llama_cpp_with_blas() {
  Runtime r = ik_llama_cpp();
  r.name = "ik_llama.cpp-blas";
  r.version = "built with BLAS";
  r.source = "ikawrakow/ik_llama.cpp ggml-blas.cpp: mul_mat of 32 tokens or more is its own";
  r.host_prompts = HostPrompts::stay;
  return r;
}

Runtime vllm() {
  Runtime r = start();
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

/// Before 0.16 tokens are drawn after sorting the logits: two sorted copies with 64-bit indices.
Runtime vllm_of_2025() {
  Runtime r = vllm();
  r.name = "vllm-0.15";
  r.version = "0.11 to 0.15";
  r.source = "vLLM 0.11 v1/sample/ops/topk_topp_sampler.py: logits.sort(); as 0.19 beside";
  r.start_pass.sampling_bytes = 38;
  return r;
}

/// Before 0.11 its wheels come without Triton's kernels for MXFP4.
Runtime vllm_without_triton_kernels() {
  Runtime r = vllm_of_2025();
  r.name = "vllm-0.10";
  r.version = "0.10";
  r.source = "vLLM 0.10.1 quantization/mxfp4.py: Marlin without triton_kernels; as 0.11 beside";
  r.expert_tiles = tiles_by_marlin;
  return r;
}

/// Before the hybrid allocator (pull request 17996, of 0.9.1) every layer holds the whole context
/// where some layer does.
Runtime vllm_without_hybrid_caches() {
  Runtime r = vllm_without_triton_kernels();
  r.name = "vllm-0.9";
  r.version = "0.8 to 0.9";
  r.source = "vLLM 0.9.0 v1/core/kv_cache_utils.py: unify_hybrid_kv_cache_specs; as 0.10 beside";
  r.windows = Windows::whole;
  return r;
}

/// Before 0.8 a prompt goes through in one piece, and memory is set aside for the longest.
Runtime vllm_of_2024() {
  Runtime r = vllm_without_hybrid_caches();
  r.name = "vllm-0.7";
  r.version = "to 0.7";
  r.source = "vLLM 0.6 config.py: chunked prefill off up to 32768 tokens; block size 16";
  r.encoder_decoders = bart_and_whisper;
  r.prefill_chunk = 0;
  r.start_pass.tokens = r.start_pass.tokens_on_large = 0;
  r.start_pass.least_tokens = 2048;
  r.start_pass.sequences_on_large = 256;
  return r;
}

/// Before 0.6 decode steps beyond max_context_len_to_capture are not captured as CUDA graphs.
Runtime vllm_of_early_2024() {
  Runtime r = vllm_of_2024();
  r.name = "vllm-0.5";
  r.version = "to 0.5";
  r.source = "vLLM 0.4 config.py: max_context_len_to_capture 8192; as 0.7 beside";
  r.encoder_decoders = bart;
  r.graph_tokens = 8192;
  return r;
}

/// Before 0.2.6 no step is captured as a CUDA graph.
Runtime vllm_of_2023() {
  Runtime r = vllm_of_early_2024();
  r.name = "vllm-0.2";
  r.version = "to 0.2.5";
  r.source = "vLLM 0.2.5 worker/worker.py: the model is called; as 0.5 beside";
  r.graph_tokens = 1;
  return r;
}

Runtime like(Runtime r, std::string_view name, std::string_view version, std::string_view source) {
  r.name = r.family = name;
  r.version = version;
  r.source = source;
  return r;
}

/// As vLLM, without a pass at start: memory is a stated share, and what is beside it not measured.
Runtime serving(std::string_view name, std::string_view version, std::string_view source) {
  Runtime r = like(vllm(), name, version, source);
  r.expert_spread = ExpertSpread::some;
  r.start_pass = {};
  r.windows = Windows::whole;
  r.rotary = Rotary::computed;
  r.expert_tiles = {};
  r.residual_copies = 2;
  r.context_bytes = guess(900 * MiB, 500 * MiB, 1800 * MiB);
  r.communication_bytes = guess(1024 * MiB, 0, 2048 * MiB);
  r.fragmentation = guess(0.01, 0.0, 0.04);
  return r;
}

/// PyTorch programs with caches of their own: nothing offloaded, nothing refused.
Runtime torch_program(std::string_view name, std::string_view version, std::string_view source,
                      Split split = Split::layers) {
  Runtime r = like(start(), name, version, source);
  r.split = split;
  r.cache_growth = Growth::reserved;
  r.encoder_decoders = no_encoder_decoders;
  r.blocks = Blocks::apart;
  return r;
}

}  // namespace

std::string_view generation_of(const Runtime& runtime) {
  // llama.cpp before int8 tensor cores and CUDA graphs, by its shaders and by those before matrix
  // units, its fork; vLLM before V1.
  constexpr std::pair<std::string_view, std::string_view> apart[] = {
      {"llama.cpp-b3120", "llama.cpp-b3120"},
      {"llama.cpp-vulkan", "llama.cpp-vulkan"},
      {"llama.cpp-vulkan-b4282", "llama.cpp-vulkan-b4282"},
      {"ik_llama.cpp", "ik_llama.cpp"},
      {"ik_llama.cpp-blas", "ik_llama.cpp"},
      {"vllm-0.2", "vllm-0.7"},
      {"vllm-0.5", "vllm-0.7"},
      {"vllm-0.7", "vllm-0.7"}};
  for (const auto& [name, generation] : apart)
    if (runtime.name == name) return generation;
  return runtime.family;
}

std::vector<Runtime> policy_rows() {
  std::vector<Runtime> rows{transformers(),
                            transformers_4(),
                            transformers_of_2024(),
                            transformers_of_2023(),
                            transformers_of_2022(),
                            llama_cpp(),
                            llama_cpp_of_2024(),
                            llama_cpp_of_early_2024(),
                            llama_cpp_with_vulkan(),
                            llama_cpp_with_vulkan_of_2024(),
                            ik_llama_cpp(),
                            ik_llama_cpp_with_blas(),
                            llama_cpp_with_blas(),
                            vllm(),
                            vllm_of_2025(),
                            vllm_without_triton_kernels(),
                            vllm_without_hybrid_caches(),
                            vllm_of_2024(),
                            vllm_of_early_2024(),
                            vllm_of_2023()};
  Runtime& sglang = rows.emplace_back(serving("sglang", "0.5", "SGLang 0.5: as vLLM, radix cache"));
  sglang.vendors = of_torch;
  // fused_moe_triton/layer.py: moe_tp_size = tp_size / ep_size, experts % ep_size == 0.
  sglang.caches_source = "SGLang 0.5 server_args.py: --kv-cache-dtype";
  sglang.adapter_ranks = {};  // lora/mem_pool.py: of the largest rank there is
  Runtime sglang_of_2025 = sglang;
  sglang_of_2025.name = "sglang-0.4";
  sglang_of_2025.version = "to 0.4.8";
  sglang_of_2025.source =
      "SGLang 0.4.6 gptq.py, with vLLM 0.8 csrc/moe/marlin_moe_ops.cu: a launch for each expert";
  sglang_of_2025.experts_looped = true;
  rows.push_back(sglang_of_2025);
  Runtime& tensorrt = rows.emplace_back(
      serving("tensorrt-llm", "1.0", "TensorRT-LLM 1.0, PyTorch backend: as vLLM"));
  tensorrt.vendors = of_nvidia;
  // mapping.py: moe_tp_size * moe_ep_size = tp_size. bindings/executor: GUARANTEED_NO_EVICT.
  tensorrt.admission = Admission::whole;
  tensorrt.caches = caches_of_tensorrt;
  tensorrt.caches_source = "TensorRT-LLM 1.0 llmapi/llm_args.py: KvCacheConfig.dtype";
  tensorrt.encoder_decoders = {};
  tensorrt.adapters = AdapterMemory::unknown;  // a share of the free memory
  tensorrt.draft_vocabulary = -1;

  // Attention without a flash kernel: scores in 16 bit, in fp32 for the softmax, its result in fp32
  // and in 16 bit; q and k in fp32 while they are rotated (modules/fused/attn.py).
  Runtime& autoawq = rows.emplace_back(torch_program(
      "autoawq", "0.1.6", "casper-hansen/AutoAWQ 0.1.6: fused modules, caches reserved"));
  autoawq.flash = FlashAttention::never;
  autoawq.score_bytes = 10;
  autoawq.residual_copies = 7;
  autoawq.fuses_at_start = true;
  autoawq.workspace_bytes = {
      136.125 * MiB, 8.125 * MiB, 170 * MiB, 0,
      "its examples/benchmark.py multiplies 4096 by 4096 in fp32 to warm up"};
  autoawq.cpu = autoawq.repacks_on_cpu = true;
  Runtime& exllama = rows.emplace_back(
      torch_program("exllama", "1 and 2", "turboderp/exllama model.py, turboderp/exllamav2"));
  exllama.vendors = of_nvidia_amd;
  exllama.caches = caches_of_exllama;  // Q6 has no row: 6.5 bits
  exllama.caches_source = "turboderp/exllamav2 cache.py: ExLlamaV2Cache, _8bit, _Q4, _Q8";
  exllama.flash = FlashAttention::never;
  exllama.score_bytes = 2;
  exllama.packed_products = PackedProducts::in_memory;  // q4_matmul_recons_cuda, hgemm
  exllama.prefill_chunk = 2048;                         // max_input_len
  Runtime& litgpt = rows.emplace_back(torch_program(
      "litgpt", "2023-11", "Lightning-AI/litgpt generate/base.py, eager PyTorch 2.1"));
  litgpt.vendors = of_desktops;
  litgpt.launch = Launch::overlapped;
  for (auto& by_width : litgpt.rates)
    for (Rates& rates : by_width) rates.kernel_s = guess(70e-6, 30e-6, 150e-6);
  litgpt.logits = Positions::all;
  rows.push_back(torch_program("gpt-fast", "2024",
                               "pytorch-labs/gpt-fast generate.py, torch.compile", Split::tensors));
  for (Runtime r : {torch_program("mlc-llm", "2023-10", "mlc-ai/llm-perf-bench", Split::tensors),
                    torch_program("calm", "2024", "zeux/calm: one CUDA kernel a token")}) {
    r.vendors = of_desktops;
    r.blocks = Blocks::exact;
    rows.push_back(r);
  }
  // Its tutorial slices T5 over cards.
  rows.emplace_back(torch_program("deepspeed-inference", "0.7",
                                  "DeepSpeed-Inference of 2022: kernel injection, tensor slicing",
                                  Split::tensors))
      .encoder_decoders.reset();

  Runtime& zero = rows.emplace_back(like(transformers_4(), "zero-inference", "0.7 to 0.10",
                                         "DeepSpeed ZeRO-Inference: weights streamed each pass"));
  zero.vendors = of_torch;
  zero.caches = caches_of_torch;
  zero.caches_source = "DeepSpeed ZeRO-Inference: caches as computed";
  zero.launch = Launch::added;
  zero.host_weights = HostWeights::copied;  // pinned
  zero.cpu = false;
  zero.repeats_to_attend = false;
  zero.adapters = AdapterMemory::unknown;
  zero.draft_vocabulary = -1;
  Runtime& flexgen = rows.emplace_back(
      like(transformers_4(), "flexgen", "0.1.7", "FMInference/FlexLLMGen flex_opt.py"));
  flexgen.vendors = of_nvidia;
  flexgen.caches = caches_of_flexgen;
  flexgen.caches_source = "FMInference/FlexLLMGen compression.py: 4 bits in groups of 64";
  flexgen.encoder_decoders = no_encoder_decoders;
  flexgen.launch = Launch::added;
  flexgen.host_weights = HostWeights::copied;  // pinned
  flexgen.cpu = false;
  flexgen.repeats_to_attend = false;
  flexgen.adapters = AdapterMemory::unknown;
  flexgen.draft_vocabulary = -1;
  flexgen.cache_growth = Growth::reserved;

  Runtime& experts = rows.emplace_back(
      like(llama_cpp(), "ktransformers", "0.2", "kvcache-ai/ktransformers: experts on the CPU"));
  experts.vendors = of_torch;
  experts.encoder_decoders = no_encoder_decoders;
  experts.holds = expert_families;
  experts.caches = caches_of_torch;
  experts.caches_source = "kvcache-ai/ktransformers: StaticCache of the model's type";
  experts.with_vulkan = {};
  experts.latent_values = false;                           // operators/attention.py: one latent
  experts.packed_products = PackedProducts::in_registers;  // operators/linear.py: Marlin
  experts.flash = FlashAttention::always;
  experts.layer_kernels = experts.score_bytes = 0;
  experts.activations_in_memory = experts.half_accumulate = false;
  experts.adapters = AdapterMemory::unknown;
  experts.draft_vocabulary = -1;
  experts.experts_stay = true;  // optimize rules: KTransformersExperts, generate_device cpu
  experts.host_prompts = HostPrompts::stay;  // kt-sft 0.2: experts are multiplied where they are
  experts.prefill_chunk = 8192;              // its chunk prefill
  Runtime& layerwise = rows.emplace_back(experts);
  layerwise.name = "kt-kernel";
  layerwise.version = "2025-12";
  layerwise.source = "kvcache-ai/ktransformers kt-kernel with SGLang: layerwise prefill";
  layerwise.host_prompts = HostPrompts::quicker;  // --kt-gpu-prefill-token-threshold
  layerwise.prefill_chunk = 32768;
  return rows;
}

}  // namespace headroom::model
