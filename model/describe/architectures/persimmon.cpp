// Persimmon: fused biased projections, layer norms, and squared ReLU.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::persimmon {

/// Source: transformers 5.23, models/persimmon/{configuration,modeling}_persimmon.py.
Part persimmon_trunk(const Config& c) {
  Common s = common_of(c, {.act = "relu2"});
  s.heads = {s.heads.query, s.heads.query, s.hidden / s.heads.query};
  Part norms;
  if (c.flag({"qk_layernorm"}, true))
    norms = layer_norm("q_layernorm", s.heads.dim) + layer_norm("k_layernorm", s.heads.dim);
  return with_quirks(
      trunk(c,
            {"Persimmon", layer_norm("final_layernorm", s.hidden),
             rotary("PersimmonRotaryEmbedding", rotated_dims(c, s.heads.dim, 0.5))},
            [&] {
              return in("self_attn", "PersimmonAttention",
                        fused_attention(s.hidden, s.heads, "query_key_value", "dense", Bias::yes) +
                            norms + module("attention_dropout", "Dropout")) +
                     in("mlp", "PersimmonMLP",
                        linear("dense_h_to_4h", s.hidden, s.inner, Bias::yes) +
                            linear("dense_4h_to_h", s.inner, s.hidden, Bias::yes) +
                            module("act", s.act)) +
                     layer_norm("input_layernorm", s.hidden) +
                     layer_norm("post_attention_layernorm", s.hidden) +
                     module("dropout", "Dropout");
            }),
      {.attention = {.rotation = Rotation::concatenated}});
}
Part persimmon(const Config& c) { return causal_lm(c, "PersimmonModel", persimmon_trunk(c)); }

}  // namespace headroom::model::families::persimmon
