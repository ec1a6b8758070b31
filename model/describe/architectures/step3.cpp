// Step-1 and Step-3 (arXiv:2507.19427). Step-3 has multi-matrix factorization attention: all heads
// share one key-value head, and queries are projected to a narrow vector first. The checkpoint
// stacks its experts in three tensors.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/step3p7.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::step3 {

/// Llama with as many key-value heads as `num_attention_groups`, and linear biases of scores
/// instead of rotations. Source: vLLM 0.33 step1.py.
Part step1(const Config& c) {
  const Classes k{"Step"};
  const Common s = common_of(c);
  Heads h = s.heads;
  h.kv = c.dim({"num_attention_groups", "num_key_value_heads"}, 1);
  const Bias bias = c.bias({"attention_bias"}, false), mlp_bias = c.bias({"mlp_bias"}, false);
  return causal_lm(c, k("Model"),
                   trunk(c, Trunk{"Step", rms_norm("norm", k("RMSNorm"), s.hidden)}, [&] {
                     return in("self_attn", k("Attention"), attention(s.hidden, h, bias, bias)) +
                            gated_rest(s, "Step", mlp_bias);
                   }));
}

/// Source: vLLM 0.33 step3_text.py; its config class for absent keys (configs/step3_vl.py).
Part step3_text(const Config& c) {
  const Classes k{"Step3Text"};
  const Size hidden = c.dim({"hidden_size"}), layers = c.dim({"num_hidden_layers"});
  const Heads h{c.dim({"num_attention_heads"}), 1, c.dim({"head_dim"}, 256)};
  if (const Size groups = c.dim({"num_attention_groups"}, 1); groups != 1)
    c.fail("num_attention_groups", "found " + std::to_string(groups) + ", expected 1");
  const Size narrow = c.dim_or_none({"share_q_dim"}, 0) > 0 ? c.dim({"share_q_dim"}) : h.dim;
  Part attn = linear("q_proj", hidden, narrow) + linear("k_proj", hidden, h.dim) +
              linear("v_proj", hidden, h.dim) + linear("o_proj", h.query * h.dim, hidden) +
              rms_norm("inter_norm", k("RMSNorm"), narrow) + linear("wq", narrow, h.query * h.dim);
  attn.caches = {kv_cache(h)};
  const Part experts = step3p7::stacked_experts(c, k, step3p7::Router::plain) +
                       in("share_expert", k("MLP"),
                          gated_mlp(hidden, c.dim({"share_expert_dim"}), "SiLUActivation"));
  const auto sparse = step3p7::sparse_layers(c, layers, 1);
  return decoder(c, k, rotated_if_scaled(c, h.dim), [&](Size i) {
    return decoder_layer(k, hidden, attn,
                         sparse[static_cast<std::size_t>(i)] ? experts : dense_mlp(c, k));
  });
}

}  // namespace headroom::model::families::step3
