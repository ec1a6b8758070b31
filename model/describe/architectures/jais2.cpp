// Jais 2: biases, layer norms, and squared ReLU without a gate.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::jais2 {

/// Source: transformers 5.23, models/jais2/{configuration,modeling}_jais2.py.
Part jais2_trunk(const Config& c) {
  const Common s = common_of(c, {.act = "relu2"});
  const Bias b = c.bias({"attention_bias"}, true), mlp = c.bias({"mlp_bias"}, true);
  return trunk(c,
               {"Jais2", layer_norm("norm", s.hidden),
                rotary("Jais2RotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
               [&] {
                 return in("self_attn", "Jais2Attention", attention(s.hidden, s.heads, b, b)) +
                        in("mlp", "Jais2MLP", up_down_mlp(s, module("act_fn", s.act), mlp)) +
                        layer_norm("input_layernorm", s.hidden) +
                        layer_norm("post_attention_layernorm", s.hidden);
               });
}
Part jais2(const Config& c) { return causal_lm(c, "Jais2Model", jais2_trunk(c)); }

}  // namespace headroom::model::families::jais2
