// StarCoder2: layer norms, biases, a feed-forward without a gate, and a sliding window.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::starcoder2 {

/// Source: transformers 5.23, models/starcoder2/{configuration,modeling}_starcoder2.py.
Part starcoder2_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 2, .act = "gelu_pytorch_tanh"});
  const Bias b = c.bias({"use_bias"}, true);
  const Size window = c.dim_or_none({"sliding_window"}, 0);
  return trunk(c,
               {"Starcoder2", layer_norm("norm", s.hidden),
                rotary("Starcoder2RotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
               [&] {
                 return in("self_attn", "Starcoder2Attention",
                           attention(s.hidden, s.heads, b, b, window)) +
                        in("mlp", "Starcoder2MLP",
                           linear("c_fc", s.hidden, s.inner, b) +
                               linear("c_proj", s.inner, s.hidden, b) + module("act", s.act)) +
                        layer_norm("input_layernorm", s.hidden) +
                        layer_norm("post_attention_layernorm", s.hidden);
               });
}
Part starcoder2(const Config& c) {
  return causal_lm(c, "Starcoder2Model", starcoder2_trunk(c), Tied::yes);
}

}  // namespace headroom::model::families::starcoder2
