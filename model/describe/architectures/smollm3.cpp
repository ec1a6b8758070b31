// SmolLM3: Llama without rotary positions in every fourth layer.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::smollm3 {

/// If `slides` is true, layers without rotary positions have a sliding window.
std::vector<std::string> types_of(const Config& c, Size layers, bool slides) {
  const std::vector<Size> rotated = c.dims({"no_rope_layers"});
  const Size interval = c.dim({"no_rope_layer_interval"}, 4);
  if (c.has("no_rope_layers") && static_cast<Size>(rotated.size()) < layers)
    c.fail("no_rope_layers", "found " + std::to_string(rotated.size()) +
                                 " entries, expected one for each of " + std::to_string(layers) +
                                 " layers");
  return layer_types(c, layers, [&](Size i) {
    const bool rotates = c.has("no_rope_layers") ? rotated[static_cast<std::size_t>(i)] != 0
                                                 : (i + 1) % interval != 0;
    return slides && !rotates ? "sliding_attention" : "full_attention";
  });
}

/// Source: transformers 5.23, models/smollm3/{configuration,modeling}_smollm3.py.
Part smollm3_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 4});
  const Bias b = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  const Size window =
      c.flag({"use_sliding_window"}, false) ? c.dim_or_none({"sliding_window"}, 0) : 0;
  const auto types = types_of(c, s.layers, window > 0);
  const Classes k{"SmolLM3"};
  return trunk(c, k, rotated_if_scaled(c, s.heads.dim), [&](Size i) {
    return in("self_attn", k("Attention"),
              attention(s.hidden, s.heads, b, b,
                        window_of(types[static_cast<std::size_t>(i)], window))) +
           gated_rest(s, "SmolLM3", mlp);
  });
}
Part smollm3(const Config& c) { return causal_lm(c, "SmolLM3Model", smollm3_trunk(c), Tied::yes); }

}  // namespace headroom::model::families::smollm3
