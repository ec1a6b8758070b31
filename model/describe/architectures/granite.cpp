// Granite: Llama with constant multipliers, which have no weights.
#include <set>

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::granite {

/// Source: transformers 5.23, models/granite/{configuration,modeling}_granite.py.
Part granite_trunk(const Config& c) {
  const Common s = common_of(c);
  const Bias b = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  return trunk(c,
               {"Granite", rms_norm("norm", "GraniteRMSNorm", s.hidden),
                rotary("GraniteRotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
               [&] {
                 return in("self_attn", "GraniteAttention", attention(s.hidden, s.heads, b, b)) +
                        gated_rest(s, "Granite", mlp);
               });
}
Part granite(const Config& c) { return causal_lm(c, "GraniteModel", granite_trunk(c)); }

/// Number of different rotation bases among the layers. Each has its own table.
Size rotation_bases(const Config& c) {
  if (!c.has("layer_rope_theta")) return 1;
  std::set<double> bases;
  for (const double base : c.numbers({"layer_rope_theta"}))
    if (base != 0) bases.insert(base);
  return static_cast<Size>(bases.size());
}

/// Granite with sliding windows in three of four layers and a learned sink for each head. Source:
/// transformers 5.23, models/granite_swa/{configuration,modeling}_granite_swa.py.
Part granite_swa_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 4});
  const Bias b = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  const Size window = c.dim_or_none({"sliding_window"}, 128);
  const auto types = layer_types(
      c, s.layers, [](Size i) { return i % 4 == 0 ? "full_attention" : "sliding_attention"; });
  const Classes k{"GraniteSWA"};
  const Size rotated = rotated_if_scaled(c, s.heads.dim);
  Part tables;
  for (Size i = 0; i < rotation_bases(c); ++i) {
    Part table = rotary(k("RotaryEmbedding"), rotated);
    table.modules[0].path = std::to_string(i);
    for (auto& t : table.tensors) t.name.replace(0, t.name.find('.'), std::to_string(i));
    tables = std::move(tables) + std::move(table);
  }
  return trunk(c, k, rotated,
               [&](Size i) {
                 return in("self_attn", k("Attention"),
                           tensor("sinks", {s.heads.query}, Role::other) +
                               attention(s.hidden, s.heads, b, b,
                                         window_of(types[static_cast<std::size_t>(i)], window))) +
                        gated_rest(s, "GraniteSWA", mlp);
               }) +
         in("rotary_embs", "ModuleList", std::move(tables));
}
Part granite_swa(const Config& c) {
  return causal_lm(c, "GraniteSWAModel", granite_swa_trunk(c), Tied::yes);
}

}  // namespace headroom::model::families::granite
