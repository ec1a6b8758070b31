// Qwen2 and Qwen3, dense.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::qwen {

/// If use_sliding_window is set, layers from max_window_layers on have a sliding window.
std::vector<Size> windows(const Config& c, Size layers) {
  const bool slides = c.flag({"use_sliding_window"}, false);
  const Size window = slides ? c.dim_or_none({"sliding_window"}, 4096) : 0;
  const Size first = c.count({"max_window_layers"}, 28);
  std::vector<Size> all;
  for (const auto& type : layer_types(c, layers, [&](Size i) {
         return window > 0 && i >= first ? "sliding_attention" : "full_attention";
       }))
    all.push_back(window_of(type, window));
  return all;
}

/// Source: transformers 5.23, models/qwen2/{configuration,modeling}_qwen2.py.
Part qwen2_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 32});
  const auto window = windows(c, s.layers);
  const auto window_at = [&](Size i) { return window[static_cast<std::size_t>(i)]; };
  return trunk(c,
               {"Qwen2", rms_norm("norm", "Qwen2RMSNorm", s.hidden),
                rotary("Qwen2RotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
               by_kind(window_at, [&](Size i) {
                 return in("self_attn", "Qwen2Attention",
                           attention(s.hidden, s.heads, Bias::yes, Bias::no, window_at(i))) +
                        gated_rest(s, "Qwen2");
               }));
}
Part qwen2(const Config& c) { return causal_lm(c, "Qwen2Model", qwen2_trunk(c)); }

/// Source: transformers 5.23, models/qwen3/{configuration,modeling}_qwen3.py.
Part qwen3_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 32, .head_dim = 128});
  const Bias b = c.bias({"attention_bias"}, false);
  const auto window = windows(c, s.layers);
  const auto window_at = [&](Size i) { return window[static_cast<std::size_t>(i)]; };
  return trunk(c,
               {"Qwen3", rms_norm("norm", "Qwen3RMSNorm", s.hidden),
                rotary("Qwen3RotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
               by_kind(window_at, [&](Size i) {
                 return in("self_attn", "Qwen3Attention",
                           attention(s.hidden, s.heads, b, b, window_at(i)) +
                               rms_norm("q_norm", "Qwen3RMSNorm", s.heads.dim) +
                               rms_norm("k_norm", "Qwen3RMSNorm", s.heads.dim)) +
                        gated_rest(s, "Qwen3");
               }));
}
Part qwen3(const Config& c) { return causal_lm(c, "Qwen3Model", qwen3_trunk(c)); }

}  // namespace headroom::model::families::qwen
