// Solar Pro: Llama with further residuals, which have no weights, and a sliding window.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::solar {

/// Source: vLLM 0.33 solar.py. vLLM applies the config's sliding_window to all layers.
Part solar(const Config& c) {
  const Common s = common_of(c);
  const bool biased = c.flag({"attention_bias"}, false) || c.flag({"bias"}, false);
  const Bias b = biased ? Bias::yes : Bias::no, mlp = c.bias({"mlp_bias"}, false);
  const Size window = c.dim_or_none({"sliding_window"}, 0);
  return causal_lm(c, "SolarModel",
                   trunk(c,
                         {"Solar", rms_norm("norm", "SolarRMSNorm", s.hidden),
                          rotary("SolarRotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
                         [&] {
                           return in("self_attn", "SolarAttention",
                                     attention(s.hidden, s.heads, b, b, window)) +
                                  gated_rest(s, "Solar", mlp);
                         }));
}

}  // namespace headroom::model::families::solar
