// Phi (1, 1.5, 2) and Phi-3 (3, 3.5, 4).
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::phi {

/// Attention and feed-forward run in parallel after one norm. All projections have biases, and so
/// does the head. Source: transformers 5.23, models/phi/{configuration,modeling}_phi.py.
Part phi_trunk(const Config& c) {
  const Common s = common_of(c, {.act = "gelu_new"});
  const bool normed = c.flag({"qk_layernorm"}, false);
  const Part layers = stack("layers", "PhiDecoderLayer", s.layers, [&] {
    Part attn = linear("q_proj", s.hidden, s.heads.query * s.heads.dim, Bias::yes) +
                linear("k_proj", s.hidden, s.heads.kv * s.heads.dim, Bias::yes) +
                linear("v_proj", s.hidden, s.heads.kv * s.heads.dim, Bias::yes) +
                linear("dense", s.heads.query * s.heads.dim, s.hidden, Bias::yes);
    if (normed)
      attn = std::move(attn) + layer_norm("q_layernorm", s.hidden / s.heads.query) +
             layer_norm("k_layernorm", s.hidden / s.heads.query);
    attn.caches = {kv_cache(s.heads)};
    return in("self_attn", "PhiAttention", std::move(attn)) +
           in("mlp", "PhiMLP",
              module("activation_fn", s.act) + linear("fc1", s.hidden, s.inner, Bias::yes) +
                  linear("fc2", s.inner, s.hidden, Bias::yes)) +
           layer_norm("input_layernorm", s.hidden) + module("resid_dropout", "Dropout");
  });
  return with_quirks(
      unsplittable(embedding("embed_tokens", c.dim({"vocab_size"}), s.hidden) + layers +
                       rotary("PhiRotaryEmbedding", rotated_dims(c, s.heads.dim, 0.5)) +
                       module("embed_dropout", "Dropout") + layer_norm("final_layernorm", s.hidden),
                   {"PhiDecoderLayer"}),
      {.attention = {.rotation = Rotation::concatenated}});
}
Part phi(const Config& c) { return causal_lm(c, "PhiModel", phi_trunk(c), Tied::no, Bias::yes); }

/// Llama with fused projections.
/// Source: transformers 5.23, models/phi3/{configuration,modeling}_phi3.py.
Part phi3_trunk(const Config& c) {
  const Common s = common_of(c);
  const Size window = c.dim_or_none({"sliding_window"}, 0);
  return with_quirks(trunk(c,
                           {"Phi3", rms_norm("norm", "Phi3RMSNorm", s.hidden),
                            rotary("Phi3RotaryEmbedding", rotated_dims(c, s.heads.dim))},
                           [&] {
                             Part attn = linear("o_proj", s.heads.query * s.heads.dim, s.hidden) +
                                         linear("qkv_proj", s.hidden,
                                                (s.heads.query + 2 * s.heads.kv) * s.heads.dim);
                             attn.caches = {kv_cache(s.heads, window)};
                             return in("self_attn", "Phi3Attention", std::move(attn)) +
                                    in("mlp", "Phi3MLP",
                                       linear("gate_up_proj", s.hidden, 2 * s.inner) +
                                           linear("down_proj", s.inner, s.hidden) +
                                           module("activation_fn", s.act)) +
                                    rms_norm("input_layernorm", "Phi3RMSNorm", s.hidden) +
                                    rms_norm("post_attention_layernorm", "Phi3RMSNorm", s.hidden) +
                                    module("resid_attn_dropout", "Dropout") +
                                    module("resid_mlp_dropout", "Dropout");
                           }),
                     {.attention = {.rotation = Rotation::concatenated}});
}
Part phi3(const Config& c) { return causal_lm(c, "Phi3Model", phi3_trunk(c)); }

}  // namespace headroom::model::families::phi
