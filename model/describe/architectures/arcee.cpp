// Arcee (AFM): Llama with squared ReLU and no gate.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::arcee {

/// Source: transformers 5.23, models/arcee/{configuration,modeling}_arcee.py.
Part arcee_trunk(const Config& c) {
  const Common s = common_of(c, {.act = "relu2"});
  const Bias b = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  const Classes k{"Arcee"};
  return trunk(c, k, rotated_if_scaled(c, s.heads.dim), [&] {
    return decoder_layer(k, s.hidden, attention(s.hidden, s.heads, b, b),
                         in("mlp", k("MLP"), up_down_mlp(s, module("act_fn", s.act), mlp)));
  });
}
Part arcee(const Config& c) { return causal_lm(c, "ArceeModel", arcee_trunk(c)); }

}  // namespace headroom::model::families::arcee
