// Granite: Llama with constant multipliers, which hold no weights.
#include "model/architectures/decoder.hpp"
#include "model/architectures/families.hpp"

namespace headroom::model::families {

/// Source: transformers 5.23, models/granite/{configuration,modeling}_granite.py.
Part granite_trunk(const Config& c) {
  const Common s = common_of(c);
  const Bias b = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  return trunk(c,
               {"Granite", rms_norm("norm", "GraniteRMSNorm", s.hidden),
                rotary("GraniteRotaryEmbedding", rotated_dims(c, s.heads.dim))},
               [&](Size) {
                 return in("self_attn", "GraniteAttention", attention(s.hidden, s.heads, b, b)) +
                        gated_rest(s, "Granite", mlp);
               });
}
Part granite(const Config& c) { return causal_lm(c, "GraniteModel", granite_trunk(c)); }

}  // namespace headroom::model::families
