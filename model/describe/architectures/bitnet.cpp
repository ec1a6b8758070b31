// BitNet b1.58: Llama with a norm before each output projection.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::bitnet {

/// Source: transformers 5.23, models/bitnet/{configuration,modeling}_bitnet.py.
Part bitnet_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 5, .act = "relu2"});
  const Bias b = c.bias({"attention_bias"}, false);
  const Classes k{"BitNet"};
  return trunk(c, k, rotated_if_scaled(c, s.heads.dim), [&] {
    return decoder_layer(
        k, s.hidden,
        attention(s.hidden, s.heads, b, b) + rms_norm("attn_sub_norm", k("RMSNorm"), s.hidden),
        in("mlp", k("MLP"),
           gated_mlp(s.hidden, s.inner, s.act) + rms_norm("ffn_sub_norm", k("RMSNorm"), s.inner)));
  });
}
Part bitnet(const Config& c) { return causal_lm(c, "BitNetModel", bitnet_trunk(c)); }

}  // namespace headroom::model::families::bitnet
