// Command R (Cohere) and R7B / A (Cohere2): attention and feed-forward side by side behind one norm
// without bias.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::cohere {

/// A separate norm for each head.
Part head_norm(std::string_view name, Size heads, Size dim) {
  return in(name, "CohereLayerNorm", tensor("weight", {heads, dim}, Role::norm));
}

/// Source: transformers 5.23, models/cohere/{configuration,modeling}_cohere.py.
Part cohere_trunk(const Config& c) {
  const Common s = common_of(c);
  const Bias b = c.bias({"attention_bias"}, false);
  Part head_norms;
  if (c.flag({"use_qk_norm"}, false))
    head_norms = head_norm("q_norm", s.heads.query, s.heads.dim) +
                 head_norm("k_norm", s.heads.kv, s.heads.dim);
  return with_norm(
      with_quirks(trunk(c,
                        {"Cohere", rms_norm("norm", "CohereLayerNorm", s.hidden),
                         rotary("CohereRotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
                        [&] {
                          return in("self_attn", "CohereAttention",
                                    attention(s.hidden, s.heads, b, b) + head_norms) +
                                 in("mlp", "CohereMLP", gated_mlp(s.hidden, s.inner, s.act)) +
                                 rms_norm("input_layernorm", "CohereLayerNorm", s.hidden);
                        }),
                  {.attention = {.rotation = Rotation::widened}}),
      "CohereLayerNorm", NormKind::written_out);
}
Part cohere(const Config& c) { return causal_lm(c, "CohereModel", cohere_trunk(c), Tied::yes); }

/// Source: transformers 5.23, models/cohere2/{configuration,modeling}_cohere2.py. The head
/// dimension is always hidden_size / num_attention_heads.
Part cohere2_trunk(const Config& c) {
  Common s = common_of(c);
  s.heads.dim = s.hidden / s.heads.query;
  const Bias b = c.bias({"attention_bias"}, false);
  const Size window = c.dim_or_none({"sliding_window"}, 4096);
  const auto types = every_nth_full(c, s.layers, c.dim({"sliding_window_pattern"}, 4));
  return with_norm(
      with_quirks(trunk(c,
                        {"Cohere2", rms_norm("norm", "Cohere2LayerNorm", s.hidden),
                         rotary("Cohere2RotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
                        [&](Size i) {
                          return in("self_attn", "Cohere2Attention",
                                    attention(
                                        s.hidden, s.heads, b, b,
                                        window_of(types[static_cast<std::size_t>(i)], window))) +
                                 in("mlp", "Cohere2MLP", gated_mlp(s.hidden, s.inner, s.act)) +
                                 rms_norm("input_layernorm", "Cohere2LayerNorm", s.hidden);
                        }),
                  {.attention = {.rotation = Rotation::widened}}),
      "Cohere2LayerNorm", NormKind::written_out);
}
Part cohere2(const Config& c) { return causal_lm(c, "Cohere2Model", cohere2_trunk(c), Tied::yes); }

}  // namespace headroom::model::families::cohere
