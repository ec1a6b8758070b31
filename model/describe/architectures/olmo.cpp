// OLMo 1 to 3. OLMo 1 has norms without weights. The later versions have norms after each half and
// on queries and keys.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::olmo {

/// Source: transformers 5.23, models/olmo/{configuration,modeling}_olmo.py.
Part olmo_trunk(const Config& c) {
  const Common s = common_of(c);
  const Bias b = c.bias({"attention_bias"}, false);
  return with_norm(
      with_quirks(trunk(c,
                        {"Olmo", module("norm", "OlmoLayerNorm"),
                         rotary("OlmoRotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
                        [&] {
                          return in("self_attn", "OlmoAttention",
                                    attention(s.hidden, s.heads, b, b)) +
                                 in("mlp", "OlmoMLP", gated_mlp(s.hidden, s.inner, s.act)) +
                                 module("input_layernorm", "OlmoLayerNorm") +
                                 module("post_attention_layernorm", "OlmoLayerNorm");
                        }),
                  {.attention = {.rotation = Rotation::widened, .rotated_in_fp32 = true}}),
      "OlmoLayerNorm", NormKind::layer_fp32);
}
Part olmo(const Config& c) { return causal_lm(c, "OlmoModel", olmo_trunk(c)); }

/// The layer of OLMo 2 and 3. One norm covers all queries of a token, another covers all keys.
Part normed_layer(const Common& s, const std::string& family, Bias b, Size window) {
  const std::string norm = family + "RMSNorm";
  return in("self_attn", family + "Attention",
            attention(s.hidden, s.heads, b, b, window) +
                rms_norm("q_norm", norm, s.heads.query * s.heads.dim) +
                rms_norm("k_norm", norm, s.heads.kv * s.heads.dim)) +
         in("mlp", family + "MLP", gated_mlp(s.hidden, s.inner, s.act)) +
         rms_norm("post_attention_layernorm", norm, s.hidden) +
         rms_norm("post_feedforward_layernorm", norm, s.hidden);
}

/// Source: transformers 5.23, models/olmo2/{configuration,modeling}_olmo2.py.
Part olmo2_trunk(const Config& c) {
  const Common s = common_of(c);
  const Bias b = c.bias({"attention_bias"}, false);
  return with_norm(
      with_quirks(trunk(c,
                        {"Olmo2", rms_norm("norm", "Olmo2RMSNorm", s.hidden),
                         rotary("Olmo2RotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
                        [&] { return normed_layer(s, "Olmo2", b, 0); }),
                  {.attention = {.rotation = Rotation::widened, .rotated_in_fp32 = true}}),
      "Olmo2RMSNorm", NormKind::rms_fp32);
}
Part olmo2(const Config& c) { return causal_lm(c, "Olmo2Model", olmo2_trunk(c)); }

/// Source: transformers 5.23, models/olmo3/{configuration,modeling}_olmo3.py.
Part olmo3_trunk(const Config& c) {
  const Common s = common_of(c);
  const Bias b = c.bias({"attention_bias"}, false);
  const Size window = c.dim_or_none({"sliding_window"}, 4096);
  const auto types = every_nth_full(c, s.layers, 4);
  return with_norm(
      with_quirks(trunk(c,
                        {"Olmo3", rms_norm("norm", "Olmo3RMSNorm", s.hidden),
                         rotary_by_type(c, "Olmo3RotaryEmbedding", types, s.heads.dim)},
                        [&](Size i) {
                          return normed_layer(
                              s, "Olmo3", b, window_of(types[static_cast<std::size_t>(i)], window));
                        }),
                  {.attention = {.rotation = Rotation::widened, .rotated_in_fp32 = true}}),
      "Olmo3RMSNorm", NormKind::rms_fp32);
}
Part olmo3(const Config& c) { return causal_lm(c, "Olmo3Model", olmo3_trunk(c)); }

}  // namespace headroom::model::families::olmo
