// CWM: Llama with a window in three of four layers.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::cwm {

/// Source: transformers 5.23, models/cwm/{configuration,modeling}_cwm.py.
Part cwm_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 8, .head_dim = 128});
  const Bias mlp = c.bias({"mlp_bias"}, false);
  const Size window = c.dim_or_none({"sliding_window"}, 8192);
  const auto types = layer_types(
      c, s.layers, [](Size i) { return i % 4 == 0 ? "full_attention" : "sliding_attention"; });
  const Classes k{"Cwm"};
  return trunk(c, k, rotated_if_scaled(c, s.heads.dim), [&](Size i) {
    return decoder_layer(k, s.hidden,
                         attention(s.hidden, s.heads, Bias::no, Bias::no,
                                   window_of(types[static_cast<std::size_t>(i)], window)),
                         in("mlp", k("MLP"), gated_mlp(s.hidden, s.inner, s.act, mlp)));
  });
}
Part cwm(const Config& c) { return causal_lm(c, "CwmModel", cwm_trunk(c)); }

}  // namespace headroom::model::families::cwm
