// StableLM: Llama with layer norms. The 12B model has one norm for each head and parallel layers.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::stablelm {

/// A small layer norm for each head.
Part norm_per_head(std::string_view name, Size heads, Size dim) {
  Part norms;
  for (Size i = 0; i < heads; ++i)
    norms = std::move(norms) + layer_norm(std::to_string(i), dim, Bias::no);
  return in(name, "StableLmLayerNormPerHead", in("norms", "ModuleList", std::move(norms)));
}

/// Source: transformers 5.23, models/stablelm/{configuration,modeling}_stablelm.py.
Part stablelm_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 32});
  const Bias b = c.bias({"use_qkv_bias"}, false);
  Part head_norms;
  if (c.flag({"qk_layernorm"}, false)) {
    if (s.heads.query > most_layers)
      throw std::length_error("num_attention_heads: " + std::to_string(s.heads.query) +
                              " norms, at most " + std::to_string(most_layers));
    head_norms = norm_per_head("q_layernorm", s.heads.query, s.heads.dim) +
                 norm_per_head("k_layernorm", s.heads.kv, s.heads.dim);
  }
  const bool parallel = c.flag({"use_parallel_residual"}, false);
  return with_quirks(
      trunk(c,
            {"StableLm", layer_norm("norm", s.hidden),
             rotary("StableLmRotaryEmbedding", rotated_dims(c, s.heads.dim, 0.25))},
            [&] {
              return in("self_attn", "StableLmAttention",
                        attention(s.hidden, s.heads, b) + head_norms) +
                     in("mlp", "StableLmMLP", gated_mlp(s.hidden, s.inner, s.act)) +
                     layer_norm("input_layernorm", s.hidden) +
                     (parallel ? Part{} : layer_norm("post_attention_layernorm", s.hidden)) +
                     module("dropout", "Dropout");
            }),
      {.attention = {.rotation = Rotation::concatenated}, .drops_attention = false});
}
Part stablelm(const Config& c) { return causal_lm(c, "StableLmModel", stablelm_trunk(c)); }

}  // namespace headroom::model::families::stablelm
