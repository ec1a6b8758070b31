// Command A mixtures of experts: attention and feed-forward side by side behind one norm.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::cohere2_moe {

/// Source: transformers 5.23, models/cohere2_moe. With `rms_norm_eps` the norms are RMS norms.
Part cohere2_moe(const Config& c) {
  const Classes k{"Cohere2Moe"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Heads heads = heads_of(c, c.dim({"num_attention_heads"}), 128);
  const Bias bias = c.bias({"attention_bias"}, false);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const std::string norm = k(c.has("rms_norm_eps") ? "RMSNorm" : "LayerNorm");
  const Routing r = routing_of(c, {"num_experts"});
  const Size shared = c.count({"num_shared_experts"}, 0);
  const Part mixture =
      in("mlp", k("SparseMoeBlock"),
         router("gate", k("TopKRouter"), hidden, r.experts) +
             fused_experts(k("Experts"), hidden, inner, r, act) +
             (shared > 0 ? in("shared_experts", k("MLP"), gated_mlp(hidden, inner * shared, act))
                         : Part{}));
  const Part dense =
      in("mlp", k("MLP"), gated_mlp(hidden, c.dim({"prefix_dense_intermediate_size"}, inner), act));
  const Size window = c.dim({"sliding_window"}, 4096),
             prefix = c.count({"first_k_dense_replace"}, 0);
  const Size prefix_every = c.dim({"prefix_dense_sliding_window_pattern"}, 1);
  const Size every = c.dim({"sliding_window_pattern"}, 4);
  const auto windowed = [&](Size i) {
    return i < prefix ? (i + 1) % prefix_every != 0 : (i - prefix + 1) % every != 0;
  };
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&](Size i) {
    return in("self_attn", k("Attention"),
              attention(hidden, heads, bias, bias,
                        window_of(c, i, window, windowed(i) ? window : 0))) +
           (is_sparse(c, i, 0) ? mixture : dense) + rms_norm("input_layernorm", norm, hidden);
  });
  return with_norm(
      with_quirks(
          unsplittable(in("model", k("Model"),
                          embedding("embed_tokens", c.dim({"vocab_size"}), hidden) + layers +
                              rms_norm("norm", norm, hidden) +
                              rotary(k("RotaryEmbedding"), rotated_if_scaled(c, heads.dim))) +
                           lm_head("model.embed_tokens.weight", c.dim({"vocab_size"}), hidden,
                                   c.flag({"tie_word_embeddings"}, true)),
                       {k("DecoderLayer")}),
          {.attention = {.rotation = Rotation::widened}}),
      k("LayerNorm"), NormKind::written_out);
}

}  // namespace headroom::model::families::cohere2_moe
