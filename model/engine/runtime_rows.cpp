#include "model/engine/runtime_rows.hpp"

#include <algorithm>

#include "model/engine/runtime_families.hpp"

namespace headroom::model {
namespace {

constexpr auto expert_families =
    std::to_array<SchemeFamily>({SchemeFamily::plain, SchemeFamily::gguf, SchemeFamily::fp4,
                                 SchemeFamily::fp8, SchemeFamily::compressed_tensors});
constexpr auto families_of_tensorrt = std::to_array<SchemeFamily>(
    {SchemeFamily::plain, SchemeFamily::gptq, SchemeFamily::awq, SchemeFamily::fp8,
     SchemeFamily::fp4, SchemeFamily::compressed_tensors});
constexpr auto caches_of_tensorrt =
    std::to_array<CacheFormat>({{"fp16"}, {"bf16"}, {"fp8", "fp8"}, {"nvfp4", "nvfp4"}});
constexpr auto caches_of_exllama =
    std::to_array<CacheFormat>({{"fp16"}, {"fp8", "FP8"}, {"q8_0", "Q8"}, {"q4_0", "Q4"}});
constexpr auto caches_of_flexgen =
    std::to_array<CacheFormat>({{"fp16"}, {"fp32"}, {"int4_g64", "--compress-cache"}});

/// As vLLM, without a pass at start: memory is a stated share, and what is beside it not measured.
Engine serving(std::string_view name, std::string_view version, std::string_view source) {
  Engine r = like(vllm(), name, version, source);
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
Engine torch_program(std::string_view name, std::string_view version, std::string_view source,
                     Split split = Split::layers) {
  Engine r = like(start(), name, version, source);
  r.split = split;
  r.cache_growth = Growth::reserved;
  r.encoder_decoders = no_encoder_decoders;
  r.blocks = Blocks::apart;
  return r;
}

}  // namespace

std::string_view generation_of(const Engine& runtime) {
  // llama.cpp before int8 tensor cores and CUDA graphs, by its shaders and by those before matrix
  // units, its fork; vLLM before V1; exllama before its kernels were written anew; AutoAWQ's
  // kernels for single tokens; transformers before its attention was one interface.
  constexpr std::pair<std::string_view, std::string_view> apart[] = {
      {"llama.cpp-b3120", "llama.cpp-b3120"},
      {"llama.cpp-vulkan", "llama.cpp-vulkan"},
      {"llama.cpp-vulkan-b4282", "llama.cpp-vulkan-b4282"},
      {"ik_llama.cpp", "ik_llama.cpp"},
      {"ik_llama.cpp-blas", "ik_llama.cpp"},
      {"exllama-1", "exllama-1"},
      {"autoawq-gemv", "autoawq-gemv"},
      {"transformers-4.20", "transformers-4.47"},
      {"transformers-4.35", "transformers-4.47"},
      {"transformers-4.44", "transformers-4.47"},
      {"transformers-4.47", "transformers-4.47"},
      {"vllm-0.2", "vllm-0.7"},
      {"vllm-0.5", "vllm-0.7"},
      {"vllm-0.7", "vllm-0.7"}};
  for (const auto& [name, generation] : apart)
    if (runtime.name == name) return generation;
  return runtime.family;
}

std::string_view kernels_of(const Engine& runtime) {
  // Of cuBLAS, CUTLASS, FlashInfer, DeepGEMM and NCCL, in CUDA graphs, called from Python.
  constexpr std::string_view servers[] = {"vllm", "sglang", "tensorrt-llm"};
  return std::ranges::find(servers, runtime.family) != std::end(servers) ? "servers" : "";
}

std::vector<Engine> policy_rows() {
  std::vector<Engine> rows = transformers_rows();
  for (const auto family : {llama_cpp_rows, vllm_rows})
    for (Engine& row : family()) rows.push_back(std::move(row));
  Engine& sglang = rows.emplace_back(serving("sglang", "0.5", "SGLang 0.5: as vLLM, radix cache"));
  sglang.vendors = of_torch;
  sglang.prompts_apart = true;  // server_args.py: --enable-mixed-chunk is off
  // fused_moe_triton/layer.py: moe_tp_size = tp_size / ep_size, experts % ep_size == 0.
  sglang.caches_source = "SGLang 0.5 server_args.py: kv_cache_dtype";
  sglang.adapter_ranks = {};  // lora/mem_pool.py: of the largest rank there is
  Engine sglang_of_2025 = sglang;
  sglang_of_2025.name = "sglang-0.4";
  sglang_of_2025.version = "to 0.4.8";
  sglang_of_2025.source =
      "SGLang 0.4.6 gptq.py, with vLLM 0.8 csrc/moe/marlin_moe_ops.cu: a launch for each expert";
  sglang_of_2025.experts_looped = true;
  rows.push_back(sglang_of_2025);
  Engine& tensorrt = rows.emplace_back(
      serving("tensorrt-llm", "1.0", "TensorRT-LLM 1.0, PyTorch backend: as vLLM"));
  tensorrt.vendors = of_nvidia;
  tensorrt.holds = families_of_tensorrt;  // quantization/mode.py: none of bitsandbytes
  // mapping.py: moe_tp_size * moe_ep_size = tp_size. bindings/executor: GUARANTEED_NO_EVICT.
  tensorrt.admission = Admission::whole;
  tensorrt.caches = caches_of_tensorrt;
  tensorrt.caches_source = "TensorRT-LLM 1.0 llmapi/llm_args.py: KvCacheConfig.dtype";
  tensorrt.encoder_decoders = {};
  tensorrt.adapters = AdapterMemory::unknown;  // a share of the free memory
  tensorrt.draft_vocabulary = -1;

  // Attention without a flash kernel: scores in 16 bit, in fp32 for the softmax, its result in fp32
  // and in 16 bit; q and k in fp32 while they are rotated (modules/fused/attn.py).
  Engine& autoawq = rows.emplace_back(torch_program(
      "autoawq", "0.1.6", "casper-hansen/AutoAWQ 0.1.6: fused modules, caches reserved"));
  autoawq.flash = FlashAttention::never;
  autoawq.score_bytes = 10;
  autoawq.residual_copies = 7;
  autoawq.fuses_at_start = true;
  autoawq.workspace_bytes = {
      136.125 * MiB, 8.125 * MiB, 170 * MiB, 0,
      "its examples/benchmark.py multiplies 4096 by 4096 in fp32 to warm up"};
  autoawq.cpu = autoawq.repacks_on_cpu = true;
  // Checkpoints of its version GEMV have kernels of their own: nothing is summed after them; those
  // of more than 8 tokens (gemv.py: gemmv2_forward_cuda) take 128 at a time and are slow: Vicuna-7B
  // on an RTX 4090 goes at 15 TFLOPS.
  Engine gemv = autoawq;
  gemv.name = "autoawq-gemv";
  gemv.version = "0.1.6, GEMV";
  gemv.source = "casper-hansen/AutoAWQ 0.1.6 modules/linear/gemv.py";
  gemv.cpu = false;
  gemv.product_tile = 128;
  gemv.packed_kernels = {0, 0, 0, 0, "gemv.py: gemv_forward_cuda sums within"};
  for (auto& by_width : gemv.rates)
    for (Rates& rates : by_width) rates.prefill_compute = guess(0.08, 0.03, 0.15);
  rows.push_back(gemv);
  // ExLlama's first edition has other kernels (q4_matmul.cu) and caches in 16 bit alone.
  Engine& exllama = rows.emplace_back(
      torch_program("exllama", "2", "turboderp/exllamav2 model.py, exllamav2_ext"));
  exllama.vendors = of_nvidia_amd;
  exllama.flash = FlashAttention::never;
  exllama.score_bytes = 2;
  exllama.packed_products = PackedProducts::in_memory;  // q4_matmul_recons_cuda
  exllama.half_accumulate = true;                       // … cublasHgemm
  exllama.prefill_chunk = 2048;                         // max_input_len
  Engine exllama_of_2023 = exllama;
  exllama_of_2023.name = "exllama-1";
  exllama_of_2023.version = "1";
  exllama_of_2023.source = "turboderp/exllama model.py, exllama_ext/cuda_func/q4_matmul.cu";
  exllama.caches = caches_of_exllama;  // Q6 has no row: 6.5 bits
  exllama.caches_source = "turboderp/exllamav2 cache.py: ExLlamaV2Cache, _8bit, _Q4, _Q8";
  rows.push_back(exllama_of_2023);
  Engine& litgpt = rows.emplace_back(torch_program(
      "litgpt", "2023-11", "Lightning-AI/litgpt generate/base.py, eager PyTorch 2.1"));
  litgpt.vendors = of_desktops;
  litgpt.launch = Launch::overlapped;
  for (auto& by_width : litgpt.rates)
    for (Rates& rates : by_width) rates.kernel_s = guess(70e-6, 30e-6, 150e-6);
  litgpt.logits = Positions::all;
  rows.push_back(torch_program("gpt-fast", "2024",
                               "pytorch-labs/gpt-fast generate.py, torch.compile", Split::tensors));
  for (Engine r : {torch_program("mlc-llm", "2023-10", "mlc-ai/llm-perf-bench", Split::tensors),
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

  Engine& zero = rows.emplace_back(like(transformers_4(), "zero-inference", "0.7 to 0.10",
                                        "DeepSpeed ZeRO-Inference: weights streamed each pass"));
  zero.vendors = of_torch;
  zero.caches = caches_of_torch;
  zero.caches_source = "DeepSpeed ZeRO-Inference: caches as computed";
  zero.launch = Launch::added;
  zero.prefetches = true;                   // stage3_prefetch_bucket_size
  zero.host_weights = HostWeights::copied;  // pinned
  zero.stream_bandwidth = start().stream_bandwidth;
  zero.cpu = false;
  zero.repeats_to_attend = false;
  zero.adapters = AdapterMemory::unknown;
  zero.draft_vocabulary = -1;
  Engine& flexgen = rows.emplace_back(
      like(transformers_4(), "flexgen", "0.1.7", "FMInference/FlexLLMGen flex_opt.py"));
  flexgen.vendors = of_nvidia;
  flexgen.caches = caches_of_flexgen;
  flexgen.caches_source = "FMInference/FlexLLMGen compression.py: 4 bits in groups of 64";
  flexgen.encoder_decoders = no_encoder_decoders;
  // compression.py, decompress: packed bytes, half as many as elements, are shifted and masked (1
  // each), both results copied as 16 bit (1.5 each), all divided, added to (4 each) and multiplied.
  flexgen.packed_products = PackedProducts::in_memory;
  flexgen.unpack_moves = 2 * 1 + 2 * 1.5 + 2 * 4 + 2;
  flexgen.host_weights = HostWeights::copied;  // pinned
  flexgen.stream_bandwidth = start().stream_bandwidth;
  flexgen.cpu = false;
  flexgen.repeats_to_attend = false;
  flexgen.adapters = AdapterMemory::unknown;
  flexgen.draft_vocabulary = -1;
  flexgen.cache_growth = Growth::reserved;
  flexgen.prefetches = true;      // flex_opt.py: --overlap, load_weight of the next layer
  flexgen.batch_in_parts = true;  // … --num-gpu-batches

  Engine& experts = rows.emplace_back(
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
  experts.dots_on_cpu = false;  // third_party/llamafile: iqk_mul_mat.inc, tinyblas
  experts.host_prompts = HostPrompts::stay;  // kt-sft 0.2: experts are multiplied where they are
  experts.prefill_chunk = 8192;              // its chunk prefill
  // Each socket has a copy of the experts (USE_NUMA=1), or a part of every one.
  experts.far_bandwidth = {1.0, 0.6, 1.0, 0, "ktransformers USE_NUMA; kt-kernel moe-tp.hpp"};
  // nccl-tests: a few KB between two cards over PCIe, within a CUDA graph.
  experts.reduce_over_bus_s = guess(20e-6, 10e-6, 80e-6);
  Engine& layerwise = rows.emplace_back(experts);
  layerwise.name = "kt-kernel";
  layerwise.version = "2025-12";
  layerwise.source = "kvcache-ai/ktransformers kt-kernel with SGLang: layerwise prefill";
  layerwise.divides_layers = true;  // SGLang's --tensor-parallel-size
  layerwise.host_prompts = HostPrompts::quicker;
  layerwise.host_prompt_tokens = 4096;  // kt run: --kt-gpu-prefill-token-threshold
  layerwise.prefill_chunk = 32768;
  // SGLang's FlashInfer: its own rows reach one and a half of what those of other engines do.
  layerwise.score_compute = guess(0.60, 0.40, 0.90);
  return rows;
}

}  // namespace headroom::model
