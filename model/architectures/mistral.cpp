// Mistral: Llama with a sliding window.
#include "model/architectures/decoder.hpp"
#include "model/architectures/families.hpp"

namespace headroom::model::families {

/// Source: transformers 5.23, models/mistral/{configuration,modeling}_mistral.py.
Part mistral_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 8});
  const Size window = c.dim_or_none({"sliding_window"}, 4096);
  return trunk(c,
               {"Mistral", rms_norm("norm", "MistralRMSNorm", s.hidden),
                rotary("MistralRotaryEmbedding", rotated_dims(c, s.heads.dim))},
               [&](Size) {
                 return in("self_attn", "MistralAttention",
                           attention(s.hidden, s.heads, Bias::no, Bias::no, window)) +
                        gated_rest(s, "Mistral");
               });
}
Part mistral(const Config& c) { return causal_lm(c, "MistralModel", mistral_trunk(c)); }

}  // namespace headroom::model::families
