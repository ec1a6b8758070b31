// LFM2 (arXiv:2511.23404), its mixture and LFM3. Most layers have short convolutions with gates,
// the others have attention.
#include <algorithm>

#include "hardware/units.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/recurrent.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::lfm {

bool tied(const Config& c) { return c.flag({"tie_embedding", "tie_word_embeddings"}, true); }

/// A convolution between two gates. It caches the last conv_L_cache tokens.
Part short_conv(const Config& c, Classes k) {
  const Size hidden = c.dim({"hidden_size"}),
             kernel = c.dim({"conv_L_cache"}, k.family == "Lfm3" ? 7 : 3);
  const Bias bias = c.bias({"conv_bias"}, false);
  Part p = depthwise_conv("conv", hidden, kernel, bias) +
           linear("in_proj", hidden, 3 * hidden, bias) + linear("out_proj", hidden, hidden, bias);
  p.caches = {recurrent_state(hidden, kernel, 0)};
  return in("conv", k("ShortConv"), std::move(p));
}

Part gated(Size hidden, Size inner) {
  return linear("w1", hidden, inner) + linear("w3", hidden, inner) + linear("w2", inner, hidden);
}

Part attention_of(const Config& c, Classes k) {
  const Size hidden = c.dim({"hidden_size"});
  const Heads h = heads_of(c);
  Part p = linear("q_proj", hidden, h.query * h.dim) + linear("k_proj", hidden, h.kv * h.dim) +
           linear("v_proj", hidden, h.kv * h.dim) + linear("out_proj", h.query * h.dim, hidden) +
           rms_norm("q_layernorm", k("RMSNorm"), h.dim) +
           rms_norm("k_layernorm", k("RMSNorm"), h.dim);
  p.caches = {kv_cache(h)};
  return in("self_attn", k("Attention"), std::move(p));
}

/// True if layer `i` has attention. layer_types decides, else full_attn_idxs. Without both, all
/// layers have attention.
bool attends(const Config& c, Size i) {
  const auto types = c.texts({"layer_types"});
  if (!types.empty()) return layer_type(c, types, i) != "conv";
  if (!c.has("full_attn_idxs")) return true;
  const auto full = c.dims({"full_attn_idxs"});
  return std::find(full.begin(), full.end(), i) != full.end();
}

template <class Layer>
Part frame(const Config& c, Classes k, Part rotary_tables, Layer&& layer) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  return unsplittable(
      in("model", k("Model"),
         embedding("embed_tokens", vocab, hidden) +
             stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), layer) +
             std::move(rotary_tables) + rms_norm("embedding_norm", k("RMSNorm"), hidden)) +
          lm_head("model.embed_tokens.weight", vocab, hidden, tied(c)),
      {k("DecoderLayer")});
}

Part norms(const Config& c, Classes k) {
  const Size hidden = c.dim({"hidden_size"});
  return rms_norm("operator_norm", k("RMSNorm"), hidden) +
         rms_norm("ffn_norm", k("RMSNorm"), hidden);
}

/// Source: transformers 5.23, models/lfm2. The feed-forward has two thirds of the configured width,
/// times a multiplier, rounded up. block_auto_adjust_ff_dim = false turns this adjustment off.
Part lfm2(const Config& c) {
  const Classes k{"Lfm2"};
  const Size hidden = c.dim({"hidden_size"});
  Size inner = c.dim({"block_ff_dim", "intermediate_size"});
  if (c.flag({"block_auto_adjust_ff_dim"}, true)) {
    inner = 2 * inner / 3;
    const Size step = c.dim({"block_multiple_of"}, 256);
    inner = whole_width(c, "block_ffn_dim_multiplier",
                        c.number({"block_ffn_dim_multiplier"}, 1.0) * static_cast<double>(inner));
    inner = round_up(inner, step);
  }
  const Part attn = attention_of(c, k), conv = short_conv(c, k);
  return frame(c, k, rotary(k("RotaryEmbedding"), rotated_if_scaled(c, heads_of(c).dim)),
               [&](Size i) {
                 return (attends(c, i) ? attn : conv) +
                        in("feed_forward", k("MLP"), gated(hidden, inner)) + norms(c, k);
               });
}

/// Source: transformers 5.23, models/lfm2_moe. The rotary tables are called `pos_emb`.
Part lfm2_moe(const Config& c) {
  const Classes k{"Lfm2Moe"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const Routing r = routing_of(c, {"num_experts"});
  const Part experts = in("experts", k("Experts"), stacked_experts(hidden, inner, r));
  const Part mixture =
      in("feed_forward", k("SparseMoeBlock"),
         experts + router("gate", k("TopKRouter"), hidden, r.experts) +
             (c.flag({"use_expert_bias"}, true) ? score_correction(r.experts, "expert_bias")
                                                : Part{}));
  const Part dense = in("feed_forward", k("MLP"), gated(hidden, c.dim({"intermediate_size"})));
  const Part attn = attention_of(c, k), conv = short_conv(c, k);
  Part tables = rotary(k("RotaryEmbedding"), rotated_if_scaled(c, heads_of(c).dim));
  for (auto& m : tables.modules) m.path = "pos_emb";
  for (auto& t : tables.tensors) t.name.replace(0, t.name.find('.'), "pos_emb");
  return frame(c, k, std::move(tables), [&](Size i) {
    return (attends(c, i) ? attn : conv) +
           (i < c.count({"num_dense_layers"}, 2) ? dense : mixture) + norms(c, k);
  });
}

/// Source: transformers 5.23, models/lfm3. Some of the attention layers have sliding windows.
Part lfm3(const Config& c) {
  const Classes k{"Lfm3"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Heads heads = heads_of(c, 4, 128);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Size window = c.dim({"sliding_window"}, 256);
  const Part conv = short_conv(c, k);
  const auto types = c.texts({"layer_types"});
  const auto kind = [&](Size i) -> std::string {
    if (!types.empty()) return layer_type(c, types, i);
    return i % 4 == 2 ? "full_attention" : i % 4 == 0 && i > 0 ? "sliding_attention" : "conv";
  };
  const auto after = [&](std::string_view name) {
    return c.flag({"use_sandwich_norm"}, true) ? rms_norm(name, k("RMSNorm"), hidden)
                                               : module(name, "Identity");
  };
  std::vector<std::string> kinds;
  for (const std::string one : {"full_attention", "sliding_attention"})
    for (Size i = 0; i < c.dim({"num_hidden_layers"}); ++i)
      if (kind(i) == one && std::find(kinds.begin(), kinds.end(), one) == kinds.end())
        kinds.push_back(one);
  Part tables = rotary_by_kind(c, k("RotaryEmbedding"), kinds, heads.dim,
                               [](const std::string&) { return 1.0; });
  return frame(c, k, std::move(tables), [&](Size i) {
    const std::string own = kind(i);
    const Part attn =
        attention(hidden, heads, bias, bias, own == "sliding_attention" ? window : 0) +
        head_norms(k("RMSNorm"), heads.dim) +
        (c.flag({"use_attention_gate"}, true) ? linear("g_proj", hidden, heads.query) : Part{});
    return (own == "conv" ? conv : in("self_attn", k("Attention"), attn)) +
           in("feed_forward", k("MLP"), gated(hidden, inner)) + norms(c, k) +
           after("post_operator_norm") + after("post_ffn_norm");
  });
}

}  // namespace headroom::model::families::lfm
