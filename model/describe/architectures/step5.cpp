// Step-5: a mixture of experts behind attention with a gate for each head. Layers in turn look back
// a window, or at the regions of eight tokens that an indexer picks.
#include "model/describe/architectures/step5.hpp"

#include <algorithm>

#include "model/describe/architectures/step3p7.hpp"
#include "model/describe/architectures/words.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::step5 {

const Classes k{"Step5"};

/// The kind of each layer. Files with multi-token-prediction layers list those last. Without a list
/// the layers are a window and the whole context in turns.
std::vector<std::string> kinds_of_layers(const Config& c, Size layers) {
  auto types = c.texts({"layer_types_with_mtp", "layer_types"});
  if (types.empty())
    for (Size i = 0; i < layers; ++i)
      types.emplace_back(i % 2 == 0 ? "sliding_attention" : "full_attention");
  if (static_cast<Size>(types.size()) < layers)
    c.fail("layer_types", "found " + std::to_string(types.size()) +
                              " types, expected one for each of " + std::to_string(layers) +
                              " layers");
  for (const auto& type : types)
    if (type != "sliding_attention" && type != "full_attention")
      c.fail("layer_types", "found '" + type + "', expected sliding_attention or full_attention");
  return types;
}

/// Heads of a layer of that kind.
Heads heads_of_kind(const Config& c, const std::string& kind) {
  const Size query = c.dim({"num_attention_heads"}), kv = c.dim({"num_attention_groups"});
  Heads h{query, kv, c.dim_or_none({"head_dim"}, c.dim({"hidden_size"}) / query)};
  const Config other = c.section_or_empty("attention_other_setting");
  if (other.text({"attention_type"}, "") == kind)
    h = {other.dim({"num_attention_heads"}), other.dim({"num_attention_groups"}),
         other.dim({"head_dim"})};
  if (kind == "sliding_attention") h.query = c.dim({"swa_num_attention_heads"}, h.query);
  return h;
}

/// Picks regions of eight tokens, and keeps one key in FP8 for each region. Tokens of the open
/// region wait in a ring, one page of vLLM's pool. Source: vLLM 0.33
/// models/step5/nvidia/{model,sparse_summary_cache,csa_tail_ring}.py.
Part region_indexer(const Config& own, Size hidden, Size query_heads, Size region) {
  const Size dim = own.dim({"proxy_dim"}, 256), heads = own.dim({"sparse_indexer_num_heads"}, 16);
  const Size keys = own.dim({"sparse_indexer_num_k_heads"}, 1) * dim;
  Part p = linear("sparse_indexer_q", hidden, heads * dim) +
           linear("sparse_indexer_k", hidden, keys) + linear("sparse_indexer_z", hidden, keys) +
           linear("sparse_indexer_w", hidden, heads) +
           in_fp32(tensor("ssmax_s", {query_heads}, Role::other)) +
           rms_norm("sparse_indexer_q_norm", k("RMSNorm"), dim) +
           layer_norm("sparse_indexer_k_norm", dim);
  p.caches = {{.kind = CacheKind::indexer,
               .per_token = dim / region,
               .score_dims = heads * dim / region,
               .entry_tokens = region,
               .entry_bytes = dim}};
  return p;
}

Part attention_of(const Config& c, const std::string& kind) {
  const Size hidden = c.dim({"hidden_size"});
  const Heads h = heads_of_kind(c, kind);
  const bool slides = kind == "sliding_attention";
  Part p = attention(hidden, h, Bias::no, Bias::no, slides ? c.dim({"sliding_window"}) : 0) +
           head_norms(k("RMSNorm"), h.dim);
  if (c.flag({"use_head_wise_attn_gate"}, false))
    p = std::move(p) + linear("g_proj", hidden, h.query);
  const Config own = c.section_or_empty("sparse_config");
  if (slides || !c.has("sparse_config") || !own.flag({"enabled"}, true)) return p;
  const Size region = own.dim({"region_block_size"}, 8);
  p.caches[0].picked = own.dim({"topk"}, 512) * region;
  return std::move(p) + region_indexer(own, hidden, h.query, region);
}

/// Source: vLLM 0.33 models/step5/nvidia/model.py and transformers_utils/configs/step5.py.
Part step5(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), layers = c.dim({"num_hidden_layers"});
  const auto sparse = step3p7::sparse_layers(c, layers, 1);
  const auto types = kinds_of_layers(c, layers);
  const Part sliding = attention_of(c, "sliding_attention"),
             full = attention_of(c, "full_attention");
  const Part experts = step3p7::stacked_experts(c, k, step3p7::Router::corrected) +
                       in("share_expert", k("MLP"),
                          gated_mlp(hidden,
                                    c.dim({"share_expert_dim"},
                                          c.dim({"moe_intermediate_size"}) * c.dim({"moe_top_k"})),
                                    "SiLUActivation"));
  const Size dim = heads_of_kind(c, "full_attention").dim;
  return with_norm(with_quirks(decoder(c, k, dim,
                                       [&](Size i) {
                                         const auto n = static_cast<std::size_t>(i);
                                         return decoder_layer(
                                             k, hidden,
                                             types[n] == "full_attention" ? full : sliding,
                                             sparse[n] ? experts : dense_mlp(c, k));
                                       }),
                               {.router = {.kind = RouterKind::sigmoid}}),
                   k("RMSNorm"), NormKind::rms_plus_1);
}

/// Layers after the model's, which are dense. `layer_types_with_mtp` says what they look at.
/// Source: vLLM 0.33 models/step5/nvidia/mtp.py.
Part predictor(const Config& c, Size number) {
  const Size hidden = c.dim({"hidden_size"}), layer = c.dim({"num_hidden_layers"}) + number;
  const auto types = c.texts({"layer_types_with_mtp", "layer_types"});
  if (static_cast<Size>(types.size()) <= layer) return {};
  const auto norm = [&](std::string_view name) { return rms_norm(name, k("RMSNorm"), hidden); };
  return in(
      "model.layers." + std::to_string(layer), k("MultiTokenPredictorLayer"),
      norm("enorm") + norm("hnorm") + linear("eh_proj", 2 * hidden, hidden) +
          decoder_layer(k, hidden, attention_of(c, types[static_cast<std::size_t>(layer)]),
                        dense_mlp(c, k)) +
          at("shared_head", norm("norm") + output_head("output", hidden, c.dim({"vocab_size"}))));
}

}  // namespace headroom::model::families::step5
