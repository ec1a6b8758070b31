// The Qwen mixtures of experts with standard attention (arXiv:2407.10671, arXiv:2505.09388).
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/qwen.hpp"

namespace headroom::model::families::qwen_moe {

/// Source: transformers 5.23, models/qwen2_moe.
Part qwen2_moe(const Config& c) {
  const Classes k{"Qwen2Moe"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads heads = heads_of(c);
  const Bias qkv = c.bias({"qkv_bias"}, true);
  const Size window =
      c.flag({"use_sliding_window"}, false) ? c.dim_or_none({"sliding_window"}, 4096) : 0;
  const Size windowed_layers = c.count({"max_window_layers"}, 28);
  const Part mixture = qwen_mixture(c, k) + qwen_shared_expert(c, k);
  return decoder(c, k, rotated_if_scaled(c, heads.dim), [&](Size i) {
    const Size alternating = i % 2 == 0 && i < windowed_layers ? window : 0;
    return decoder_layer(
        k, hidden, attention(hidden, heads, qkv, Bias::no, window_of(c, i, window, alternating)),
        qwen_feed_forward(c, k, i, mixture));
  });
}

/// Source: transformers 5.23, models/qwen3_moe.
Part qwen3_moe(const Config& c) {
  const Classes k{"Qwen3Moe"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const Heads heads = heads_of(c, Defaults{.kv_heads = 4});
  const Bias bias = c.bias({"attention_bias"}, false);
  const Size window =
      c.flag({"use_sliding_window"}, false) ? c.dim_or_none({"sliding_window"}, 4096) : 0;
  const Routing r = routing_of(c, {"num_experts", "num_local_experts"});
  const Part mixture =
      fused_experts(k("Experts"), hidden, inner, r, activation_class(c, {"hidden_act"}, "silu")) +
      router("gate", k("TopKRouter"), hidden, r.experts);
  const auto sparse = [&](Size i) { return qwen_is_sparse(c, i); };
  const auto layer = [&](Size i) {
    return decoder_layer(
        k, hidden,
        attention(hidden, heads, bias, bias, window) + head_norms(k("RMSNorm"), heads.dim),
        qwen_feed_forward(c, k, i, mixture));
  };
  return decoder(c, k, rotated_if_scaled(c, heads.dim), by_kind(sparse, layer));
}

}  // namespace headroom::model::families::qwen_moe
