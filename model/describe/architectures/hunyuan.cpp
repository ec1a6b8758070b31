// Hunyuan v1, dense: Llama with norms on queries and keys.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::hunyuan {

/// Source: transformers 5.23, models/hunyuan_v1_dense.
Part hunyuan_dense_trunk(const Config& c) {
  const Common s = common_of(c);
  const Bias b = c.bias({"attention_bias"}, false);
  const Classes k{"HunYuanDenseV1"};
  return with_quirks(trunk(c, k, rotated_if_scaled(c, s.heads.dim),
                           [&] {
                             return decoder_layer(
                                 k, s.hidden,
                                 attention(s.hidden, s.heads, b, b) +
                                     rms_norm("query_layernorm", k("RMSNorm"), s.heads.dim) +
                                     rms_norm("key_layernorm", k("RMSNorm"), s.heads.dim),
                                 in("mlp", k("MLP"), gated_mlp(s.hidden, s.inner, s.act)));
                           }),
                     {.attention = {.rotation = Rotation::added, .norms_rotated = true}});
}
Part hunyuan_dense(const Config& c) {
  return causal_lm(c, "HunYuanDenseV1Model", hunyuan_dense_trunk(c));
}

}  // namespace headroom::model::families::hunyuan
