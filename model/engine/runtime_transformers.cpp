// Rows of transformers, with accelerate.
#include "model/engine/runtime_families.hpp"

namespace headroom::model {
namespace {

// transformers 5.23 quantizers/quantizer_bnb_8bit.py and _4bit.py refuse a map with both cards and
// host.
constexpr auto packed_on_load = std::to_array<SchemeFamily>({SchemeFamily::bitsandbytes});
// Values in groups of 64 with scale and zero point; the last 128 tokens in 16 bit are left out.
constexpr auto caches_of_transformers = std::to_array<CacheFormat>(
    {{"fp16"}, {"bf16"}, {"fp32"}, {"int8_g64", "8"}, {"int4_g64", "4"}, {"int2_g64", "2"}});

Engine transformers() {
  Engine r = start();
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
  // accelerate hooks.py: from pageable memory, which the driver copies to a pinned buffer first.
  r.stream_bandwidth = guess(0.40, 0.20, 0.70);
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
  // GPTQModel qlinear/torch.py: words shifted and masked, scales of each group, conversion.
  r.gptq_bytes_kernels = 3;
  // Quantizers replace modules after tie_weights: measured on 4.51.
  r.unties_fp8 = true;
  r.logits_bytes = 6;    // as multiplied, and in fp32
  r.returned_bytes = 4;  // the latter
  return r;
}

}  // namespace

/// Before 5 each expert is called from Python, and attention gets keys and values of each query
/// head: expand and reshape of repeat_kv copy them.
Engine transformers_4() {
  Engine r = transformers();
  r.name = "transformers-4.57";
  r.version = "4.48 to 4.57";
  r.source = "transformers 4.51 modeling_qwen3_moe.py, integrations/sdpa_attention.py: repeat_kv";
  r.experts_looped = r.repeats_to_attend = true;
  r.latent_cache = false;  // modeling_deepseek_v3.py: K and V are kept as expanded
  return r;
}

namespace {

/// The same with the flash-attn package, which takes keys and values by their own heads.
Engine transformers_4_with_flash_attention() {
  Engine r = transformers_4();
  r.name = "transformers-4.57-fa2";
  r.version = "4.48 to 4.57";
  r.source = "transformers 4.51 integrations/flash_attention.py; as 4.57 beside";
  r.repeats_to_attend = false;
  return r;
}

/// Before 4.48 each kind of attention is a module of its own, that of flash-attn repeats keys and
/// values too, and GPTQ's kernels are AutoGPTQ's (qlinear_cuda_old.py: conversion).
Engine transformers_with_attention_modules() {
  Engine r = transformers_4();
  r.name = "transformers-4.47";
  r.version = "4.45 to 4.47";
  r.source = "transformers 4.46 modeling_qwen2.py: Qwen2FlashAttention2; as 4.57 beside";
  r.gptq_bytes_kernels = 1;
  return r;
}

/// Before 4.45 the logits of the whole prompt are made and copied to fp32.
Engine transformers_of_2024() {
  Engine r = transformers_with_attention_modules();
  r.name = "transformers-4.44";
  r.version = "4.36 to 4.44";
  r.source =
      "transformers 4.38 modeling_qwen2.py: logits of every position, .float(); DynamicCache";
  r.logits = Positions::all;
  r.rotary = Rotary::each;
  return r;
}

/// Before 4.36 caches are tuples: the old ones live until the pass has made all new ones.
Engine transformers_of_2023() {
  Engine r = transformers_of_2024();
  r.name = "transformers-4.35";
  r.version = "4.28 to 4.35";
  r.source = "transformers 4.31 generation/utils.py: past_key_values as tuples, torch.cat";
  r.rotary = Rotary::computed;
  r.cache_growth = Growth::whole;
  return r;
}

/// Before PyTorch 1.13 a context loads every kernel at once.
Engine transformers_of_2022() {
  Engine r = transformers_of_2023();
  r.name = "transformers-4.20";
  r.version = "to 4.20";
  r.context_bytes = {1343 * MiB, 1100 * MiB, 1700 * MiB, 1,
                     "transformers 4.27 docs, perf_train_gpu_one: one kernel loaded, torch 1.x"};
  return r;
}

}  // namespace

std::vector<Engine> transformers_rows() {
  return {transformers(),
          transformers_4(),
          transformers_4_with_flash_attention(),
          transformers_with_attention_modules(),
          transformers_of_2024(),
          transformers_of_2023(),
          transformers_of_2022()};
}

}  // namespace headroom::model
