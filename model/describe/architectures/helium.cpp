// Helium: Llama by Kyutai. The attention output has the model's width.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::helium {

/// Source: transformers 5.23, models/helium/{configuration,modeling}_helium.py. o_proj is hidden x
/// hidden, regardless of head_dim.
Part helium_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 20, .head_dim = 128});
  const Bias b = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  const Classes k{"Helium"};
  return with_norm(with_quirks(trunk(c, k, rotated_if_scaled(c, s.heads.dim),
                                     [&] {
                                       const Size query = s.heads.query * s.heads.dim,
                                                  kv = s.heads.kv * s.heads.dim;
                                       Part attn = linear("q_proj", s.hidden, query, b) +
                                                   linear("k_proj", s.hidden, kv, b) +
                                                   linear("v_proj", s.hidden, kv, b) +
                                                   linear("o_proj", s.hidden, s.hidden);
                                       attn.caches = {kv_cache(s.heads)};
                                       return in("self_attn", k("Attention"), std::move(attn)) +
                                              gated_rest(s, "Helium", mlp);
                                     }),
                               {.attention = {.rotation = Rotation::added, .own_tables = true}}),
                   k("RMSNorm"), NormKind::rms_raised);
}
Part helium(const Config& c) { return causal_lm(c, "HeliumModel", helium_trunk(c)); }

}  // namespace headroom::model::families::helium
