// Mistral and Ministral: Llama with a sliding window.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::mistral {

/// Source: transformers 5.23, models/mistral/{configuration,modeling}_mistral.py.
Part mistral_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 8});
  const Size window = c.dim_or_none({"sliding_window"}, 4096);
  return trunk(c,
               {"Mistral", rms_norm("norm", "MistralRMSNorm", s.hidden),
                rotary("MistralRotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
               [&] {
                 return in("self_attn", "MistralAttention",
                           attention(s.hidden, s.heads, Bias::no, Bias::no, window)) +
                        gated_rest(s, "Mistral");
               });
}
Part mistral(const Config& c) { return causal_lm(c, "MistralModel", mistral_trunk(c)); }

/// Source: transformers 5.23, models/ministral/{configuration,modeling}_ministral.py.
Part ministral_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 8});
  const Size window = c.dim_or_none({"sliding_window"}, 4096);
  const auto types = layer_types(
      c, s.layers, [&](Size) { return window > 0 ? "sliding_attention" : "full_attention"; });
  const Classes k{"Ministral"};
  return trunk(c, k, rotated_if_scaled(c, s.heads.dim), [&](Size i) {
    return in("self_attn", k("Attention"),
              attention(s.hidden, s.heads, Bias::no, Bias::no,
                        window_of(types[static_cast<std::size_t>(i)], window))) +
           gated_rest(s, "Ministral");
  });
}
Part ministral(const Config& c) { return causal_lm(c, "MinistralModel", ministral_trunk(c)); }

/// Source: transformers 5.23, models/ministral3/{configuration,modeling}_ministral3.py.
Part ministral3_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 8, .head_dim = 128});
  const Size window = c.dim_or_none({"sliding_window"}, 0);
  const Classes k{"Ministral3"};
  return trunk(c, k, rotated_if_scaled(c, s.heads.dim), [&] {
    return in("self_attn", k("Attention"),
              attention(s.hidden, s.heads, Bias::no, Bias::no, window)) +
           gated_rest(s, "Ministral3");
  });
}
Part ministral3(const Config& c) { return causal_lm(c, "Ministral3Model", ministral3_trunk(c)); }

}  // namespace headroom::model::families::mistral
