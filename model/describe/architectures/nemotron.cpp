// Nemotron 3 and 4, Minitron: layer norms, and squared ReLU without a gate.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::nemotron {

/// Source: transformers 5.23, models/nemotron/{configuration,modeling}_nemotron.py.
Part nemotron_trunk(const Config& c) {
  const Common s = common_of(c, {.act = "relu2"});
  const Bias b = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  const auto norm = [&](std::string_view name) {
    Part p = layer_norm(name, s.hidden);
    p.modules[0].class_name = "NemotronLayerNorm1P";
    return p;
  };
  return with_norm(
      with_quirks(
          trunk(c,
                {"Nemotron", norm("norm"),
                 rotary("NemotronRotaryEmbedding", rotated_dims(c, s.heads.dim, 0.5))},
                [&] {
                  return in("self_attn", "NemotronAttention", attention(s.hidden, s.heads, b, b)) +
                         in("mlp", "NemotronMLP", up_down_mlp(s, module("act_fn", s.act), mlp)) +
                         norm("input_layernorm") + norm("post_attention_layernorm");
                }),
          {.attention = {.rotation = Rotation::concatenated}}),
      "NemotronLayerNorm1P", NormKind::layer_plus_1);
}
Part nemotron(const Config& c) { return causal_lm(c, "NemotronModel", nemotron_trunk(c)); }

}  // namespace headroom::model::families::nemotron
