// GLM-4, dense: gate and up fused, half of each head rotated.
#include "model/architectures/decoder.hpp"
#include "model/architectures/families.hpp"

namespace headroom::model::families {

/// Source: transformers 5.23, models/glm/{configuration,modeling}_glm.py.
Part glm_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 2, .head_dim = 128});
  const Bias b = c.bias({"attention_bias"}, true);
  return trunk(c,
               {"Glm", rms_norm("norm", "GlmRMSNorm", s.hidden),
                rotary("GlmRotaryEmbedding", rotated_dims(c, s.heads.dim, 0.5))},
               [&](Size) {
                 return in("self_attn", "GlmAttention", attention(s.hidden, s.heads, b)) +
                        in("mlp", "GlmMLP",
                           linear("gate_up_proj", s.hidden, 2 * s.inner) +
                               linear("down_proj", s.inner, s.hidden) +
                               module("activation_fn", s.act)) +
                        rms_norm("input_layernorm", "GlmRMSNorm", s.hidden) +
                        rms_norm("post_attention_layernorm", "GlmRMSNorm", s.hidden);
               });
}
Part glm(const Config& c) { return causal_lm(c, "GlmModel", glm_trunk(c)); }

}  // namespace headroom::model::families
