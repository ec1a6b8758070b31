#include "model/describe/blocks/latent.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace headroom::model {

Latent latent_of(const Config& c) {
  return {.heads = c.dim({"num_attention_heads"}),
          .query_rank = c.count({"q_lora_rank"}, 0),
          .rank = c.dim({"kv_lora_rank"}),
          .nope = c.dim({"qk_nope_head_dim"}),
          .rope = c.dim({"qk_rope_head_dim"}),
          .value = c.dim({"v_head_dim"})};
}

Size fp8_latent_bytes(Size plain, Size rotated) {
  return plain + 4 * ((plain + 127) / 128) + 2 * rotated;
}

Size fp8_index_bytes(Size dim) { return dim + 4; }

namespace {

/// The least power of two that is no less than `size`.
Size power_of_two(Size size) {
  return static_cast<Size>(std::bit_ceil(static_cast<std::uint64_t>(std::max<Size>(1, size))));
}

}  // namespace

Cache latent_cache(const Latent& a) {
  const Size per_head = a.nope + a.rope + a.value;
  return {.kind = CacheKind::latent,
          .per_token = a.rank + a.rope,
          .score_dims = a.heads * per_head,
          .expanded_per_token = a.heads * per_head,
          .expanded_values = a.heads * a.value,
          .padded_per_token = 2 * a.heads * power_of_two(std::max(a.nope + a.rope, a.value))};
}

Part latent_attention(Size hidden, const Latent& a, std::string_view norm_class, Bias bias) {
  const Size query = a.heads * (a.nope + a.rope);
  Part p = a.query_rank == 0 ? linear("q_proj", hidden, query)
                             : linear("q_a_proj", hidden, a.query_rank, bias) +
                                   rms_norm("q_a_layernorm", norm_class, a.query_rank) +
                                   linear("q_b_proj", a.query_rank, query);
  p = std::move(p) + linear("kv_a_proj_with_mqa", hidden, a.rank + a.rope, bias) +
      rms_norm("kv_a_layernorm", norm_class, a.rank) +
      linear("kv_b_proj", a.rank, a.heads * (a.nope + a.value)) +
      linear("o_proj", a.heads * a.value, hidden, bias);
  p.caches = {latent_cache(a)};
  return p;
}

Part indexer(const Config& c, std::string_view class_name, Size hidden, Size query_rank) {
  const Size heads = c.dim({"index_n_heads"}), dim = c.dim({"index_head_dim"});
  Part p = linear("wq_b", query_rank, heads * dim) + linear("wk", hidden, dim) +
           layer_norm("k_norm", dim) + linear("weights_proj", hidden, heads);
  p.caches = {{.kind = CacheKind::indexer,
               .per_token = dim,
               .score_dims = heads * dim,
               .entry_bytes = fp8_index_bytes(dim)}};
  return in("indexer", class_name, std::move(p));
}

Part picked(Part part, const Config& c) {
  const Size most = c.dim({"index_topk"}, 2048), rotated = c.dim({"qk_rope_head_dim"}, 64);
  for (auto& cache : part.caches) {
    if (cache.kind == CacheKind::indexer || cache.kind == CacheKind::recurrent) continue;
    cache.picked = most;
    if (cache.kind == CacheKind::latent)
      cache.entry_bytes = fp8_latent_bytes(cache.per_token - rotated, rotated);
  }
  return part;
}

bool has_indexer(const Config& c, Size i) {
  const auto types = c.texts({"indexer_types"});
  if (!types.empty()) return layer_type(c, types, i, "indexer_types") == "full";
  if (c.has("index_topk_pattern")) {
    const std::string pattern = c.text({"index_topk_pattern"});
    if (static_cast<std::size_t>(i) >= pattern.size())
      c.fail("index_topk_pattern", "found fewer letters than layers");
    return pattern[static_cast<std::size_t>(i)] == 'F';
  }
  const Size offset = c.count({"index_skip_topk_offset"}, 2);
  return std::max<Size>(i - offset + 1, 0) % c.dim({"index_topk_freq"}, 1) == 0;
}

}  // namespace headroom::model
