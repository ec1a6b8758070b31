// EXAONE 4: norms after attention, after the feed-forward, and on queries and keys. Three of four
// layers have a sliding window.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::exaone4 {

/// sliding_window_pattern is a number (every n-th layer has full attention), or a string of L
/// (local) and G (global). The reference code reads only the number.
std::vector<std::string> types_of(const Config& c, Size layers, Size window) {
  if (c.has("layer_types") || window == 0)
    return layer_types(c, layers, [](Size) { return "full_attention"; });
  return every_nth_full(c, layers, c.dim({"sliding_window_pattern"}, 4));
}

/// Source: transformers 5.23, models/exaone4/{configuration,modeling}_exaone4.py.
Part exaone4_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 32});
  const Size window = c.dim_or_none({"sliding_window"}, 4096);
  const auto types = types_of(c, s.layers, window);
  const Classes k{"Exaone4"};
  return trunk(c, k, rotated_if_scaled(c, s.heads.dim), [&](Size i) {
    return in("self_attn", k("Attention"),
              attention(s.hidden, s.heads, Bias::no, Bias::no,
                        window_of(types[static_cast<std::size_t>(i)], window)) +
                  head_norms(k("RMSNorm"), s.heads.dim)) +
           in("mlp", k("MLP"), gated_mlp(s.hidden, s.inner, s.act)) +
           rms_norm("post_attention_layernorm", k("RMSNorm"), s.hidden) +
           rms_norm("post_feedforward_layernorm", k("RMSNorm"), s.hidden);
  });
}
Part exaone4(const Config& c) { return causal_lm(c, "Exaone4Model", exaone4_trunk(c)); }

}  // namespace headroom::model::families::exaone4
