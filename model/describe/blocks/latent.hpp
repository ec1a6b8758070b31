// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1), and the indexer of
// sparse attention. Latent attention keeps the keys and values of all heads as one latent vector
// for each token.
#pragma once

#include <string>
#include <string_view>

#include "model/describe/blocks/decoder.hpp"

namespace headroom::model {

/// Sizes of latent attention. With `query_rank` 0, queries are projected in one step.
struct Latent {
  Size heads, query_rank, rank, nope, rope, value;
};

Latent latent_of(const Config& c);

/// The cache of one token: the latent and the shared rotated key. `expanded` counts keys and values
/// per head, as transformers stores them.
/// Bytes of a latent in FlashMLA's FP8 format: elements that are not rotated in FP8 with an fp32
/// scale for every 128, rotated ones in 16 bit.
/// Source: vLLM 0.33 v1/kv_cache_interface.py and csrc/cache_kernels.cu, fp8_ds_mla (656 bytes).
Size fp8_latent_bytes(Size plain, Size rotated);
/// Bytes of an index key in FP8 with one fp32 scale.
/// Source: vLLM 0.33 v1/attention/backends/mla/indexer.py (132 bytes).
Size fp8_index_bytes(Size dim);

Cache latent_cache(const Latent& a);

/// Down- and up-projections with a norm between them, then the output projection. `bias` is for the
/// down-projections and the output.
Part latent_attention(Size hidden, const Latent& a, std::string_view norm_class,
                      Bias bias = Bias::no);

/// The indexer of DeepSeek sparse attention (DeepSeek-V3.2, arXiv:2512.02556). It picks the tokens
/// that attention reads, and caches one key of index_head_dim for each token.
Part indexer(const Config& c, std::string_view class_name, Size hidden, Size query_rank);

/// `part` with attention that reads only the `index_topk` cached tokens that the indexer picks. The
/// classes' default is 2048. Source: transformers 5.23,
/// configuration_{deepseek_v32,glm_moe_dsa,axk2,hy_v4}.py.
Part picked(Part part, const Config& c);

/// True if layer `i` of GLM-5 has its own indexer. `indexer_types` decides, else index_topk_pattern
/// ("F" full, "S" shared). Otherwise it is every index_topk_freq-th layer from
/// index_skip_topk_offset on.
bool has_indexer(const Config& c, Size i);

}  // namespace headroom::model
