// GLM-4, dense: one fused projection for gate and up, and rotation of half of each head.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::glm {

/// `more_norms` lists the norms that a generation adds to each layer.
Part glm_body(const Config& c, Classes k, std::initializer_list<std::string_view> more_norms) {
  const Common s = common_of(c, {.kv_heads = 2, .head_dim = 128});
  const Bias b = c.bias({"attention_bias"}, true);
  Part norms;
  for (const auto name : more_norms)
    norms = std::move(norms) + rms_norm(name, k("RMSNorm"), s.hidden);
  return with_quirks(trunk(c, k, rotated_dims(c, s.heads.dim, 0.5),
                           [&] {
                             return decoder_layer(k, s.hidden, attention(s.hidden, s.heads, b),
                                                  in("mlp", k("MLP"),
                                                     linear("gate_up_proj", s.hidden, 2 * s.inner) +
                                                         linear("down_proj", s.inner, s.hidden) +
                                                         module("activation_fn", s.act))) +
                                    norms;
                           }),
                     {.attention = {.rotation = Rotation::concatenated, .own_tables = true}});
}

/// Source: transformers 5.23, models/glm/{configuration,modeling}_glm.py.
Part glm_trunk(const Config& c) { return glm_body(c, Classes{"Glm"}, {}); }
Part glm(const Config& c) { return causal_lm(c, "GlmModel", glm_trunk(c)); }

/// Source: transformers 5.23, models/glm4/{configuration,modeling}_glm4.py.
Part glm4_trunk(const Config& c) {
  return glm_body(c, Classes{"Glm4"}, {"post_self_attn_layernorm", "post_mlp_layernorm"});
}
Part glm4(const Config& c) { return causal_lm(c, "Glm4Model", glm4_trunk(c)); }

}  // namespace headroom::model::families::glm
