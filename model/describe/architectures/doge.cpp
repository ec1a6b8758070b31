// Doge: attention with a learned dynamic mask, and weighted residuals.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::doge {

/// Source: transformers 5.23, models/doge/{configuration,modeling}_doge.py.
Part doge_trunk(const Config& c) {
  const Common s = common_of(c);
  const Bias b = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  const Size window = c.dim_or_none({"sliding_window"}, 0);
  if (c.flag({"is_moe"}, false)) c.fail("is_moe", "found true, which is not described");
  const Classes k{"Doge"};
  return trunk(c, k, rotated_if_scaled(c, s.heads.dim), [&] {
    const Size query = s.heads.query * s.heads.dim, kv = s.heads.kv * s.heads.dim;
    Part attn = tensor("A", {s.heads.kv}, Role::other) + linear("q_proj", s.hidden, query, b) +
                linear("k_proj", s.hidden, kv, b) + linear("v_proj", s.hidden, kv, b) +
                linear("dt_proj", kv, s.heads.kv, b) + linear("o_proj", query, s.hidden, b) +
                head_norms(k("RMSNorm"), s.heads.dim);
    attn.caches = {kv_cache(s.heads, window)};
    return tensor("input_residual", {s.hidden}, Role::other) +
           tensor("post_attention_residual", {s.hidden}, Role::other) +
           rms_norm("input_layernorm", k("RMSNorm"), s.hidden) +
           in("self_attn", k("Attention"), std::move(attn)) +
           rms_norm("post_attention_layernorm", k("RMSNorm"), s.hidden) +
           in("mlp", k("MLP"), gated_mlp(s.hidden, s.inner, s.act, mlp));
  });
}
Part doge(const Config& c) { return causal_lm(c, "DogeModel", doge_trunk(c)); }

}  // namespace headroom::model::families::doge
