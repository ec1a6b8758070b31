// Rows of llama.cpp and its fork, by age and back end.
#include "model/engine/runtime_families.hpp"

namespace headroom::model {
namespace {

constexpr auto llama_cpp_families =
    std::to_array<SchemeFamily>({SchemeFamily::plain, SchemeFamily::gguf, SchemeFamily::fp4});
constexpr auto caches_of_llama_cpp = std::to_array<CacheFormat>({{"fp16", "f16"},
                                                                 {"bf16", "bf16"},
                                                                 {"fp32", "f32"},
                                                                 {"q8_0", "q8_0"},
                                                                 {"q5_1", "q5_1"},
                                                                 {"q5_0", "q5_0"},
                                                                 {"q4_1", "q4_1"},
                                                                 {"q4_0", "q4_0"},
                                                                 {"iq4_nl", "iq4_nl"}});

}  // namespace

Engine llama_cpp() {
  Engine r = start();
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
  // tools/server update_slots: others' tokens are in one micro-batch of the four of a batch.
  r.prompts_apart = true;
  r.latent_values = true;  // until llama.cpp pull request 19067, 2026-01: K and V are apart
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
  r.host_prompt_tokens = 32;             // ggml-cuda.cu: GGML_OP_OFFLOAD_MIN_BATCH
  r.dots_on_cpu = true;                  // ggml-cpu: llamafile/sgemm.cpp, repack.cpp, else vec_dot
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

namespace {

/// Before b6325 attention is without a flash kernel unless asked for.
Engine llama_cpp_of_2024() {
  Engine r = llama_cpp();
  r.name = "llama.cpp-b6324";
  r.version = "to b6324";
  r.with_vulkan = {};
  r.source = "llama.cpp b2800 llama.cpp: llm_build_kqv without flash_attn; ggml-alloc.c";
  r.flash = FlashAttention::off;
  return r;
}

/// Before b3121 (llama.cpp pull requests 7676 and 7860, June 2024) packed weights are unpacked for
/// cuBLAS; only later do int8 tensor cores multiply them as they are.
Engine llama_cpp_of_early_2024() {
  Engine r = llama_cpp_of_2024();
  r.name = "llama.cpp-b3120";
  r.version = "to b3120";
  r.with_vulkan = "llama.cpp-vulkan-b4282";
  r.source = "llama.cpp b2800 ggml-cuda.cu: ggml_cuda_op_mul_mat_cublas; llm_build_kqv";
  r.packed_products = PackedProducts::in_memory_or_bytes;
  return r;
}

/// Built with BLAS, which takes the large products of host layers before a card can.
Engine llama_cpp_with_blas() {
  Engine r = llama_cpp();
  r.name = "llama.cpp-blas";
  r.version = "built with BLAS";
  r.with_vulkan = {};
  r.source = "llama.cpp ggml-blas.cpp: mul_mat of 32 tokens or more is its own";
  r.host_prompts = HostPrompts::stay;
  return r;
}

/// Shaders unpack weights where they multiply them, in 16 bit, by matrix units where a driver
/// offers those (VK_KHR_cooperative_matrix, VK_NV_cooperative_matrix2).
Engine llama_cpp_with_vulkan() {
  Engine r = llama_cpp();
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
Engine llama_cpp_with_vulkan_of_2024() {
  Engine r = llama_cpp_with_vulkan();
  r.name = "llama.cpp-vulkan-b4282";
  r.version = "to b4282, Vulkan";
  r.source = "llama.cpp b4200 ggml-vulkan.cpp, vulkan-shaders/mul_mm.comp; llm_build_kqv";
  r.matrix_units = false;
  r.flash = FlashAttention::never;
  return r;
}

/// A fork of llama.cpp with kernels of its own for the CPU, mixtures and its formats.
Engine ik_llama_cpp() {
  Engine r = llama_cpp();
  r.name = "ik_llama.cpp";
  r.version = "2025";
  r.source = "ikawrakow/ik_llama.cpp: as llama.cpp beside ggml/src/iqk and its CUDA kernels";
  r.vendors = of_nvidia_amd;
  r.with_vulkan = {};
  r.dots_on_cpu = false;  // iqk_mul_mat.cpp: kernels for all formats
  return r;
}

Engine ik_llama_cpp_with_blas() {
  Engine r = ik_llama_cpp();
  r.name = "ik_llama.cpp-blas";
  r.version = "built with BLAS";
  r.source = "ikawrakow/ik_llama.cpp ggml-blas.cpp: mul_mat of 32 tokens or more is its own";
  r.host_prompts = HostPrompts::stay;
  return r;
}

}  // namespace

std::vector<Engine> llama_cpp_rows() {
  return {llama_cpp(),
          llama_cpp_of_2024(),
          llama_cpp_of_early_2024(),
          llama_cpp_with_vulkan(),
          llama_cpp_with_vulkan_of_2024(),
          ik_llama_cpp(),
          ik_llama_cpp_with_blas(),
          llama_cpp_with_blas()};
}

}  // namespace headroom::model
