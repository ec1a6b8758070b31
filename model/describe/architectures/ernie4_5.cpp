// ERNIE 4.5, dense: Llama with one switch for all biases.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::ernie4_5 {

/// Source: transformers 5.23, models/ernie4_5/{configuration,modeling}_ernie4_5.py.
Part ernie4_5_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 2, .head_dim = 128});
  const Bias b = c.bias({"use_bias"}, false);
  const Classes k{"Ernie4_5"};
  return with_quirks(
      trunk(c, k, rotated_if_scaled(c, s.heads.dim),
            [&] {
              return in("self_attn", k("Attention"), attention(s.hidden, s.heads, b, b)) +
                     gated_rest(s, "Ernie4_5", b);
            }),
      {.attention = {.rotation = Rotation::widened, .rotated_in_fp32 = true, .own_tables = true}});
}
Part ernie4_5(const Config& c) {
  return causal_lm(c, "Ernie4_5Model", ernie4_5_trunk(c), Tied::yes);
}

}  // namespace headroom::model::families::ernie4_5
