// Orion (arXiv:2401.12246): Llama with layer norms.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::orion {

/// Source: vLLM 0.33 orion.py.
Part orion(const Config& c) {
  const Common s = common_of(c);
  return decoder(c,
                 Decoder{.family = "Orion",
                         .rotated = rotated_if_scaled(c, s.heads.dim),
                         .norm = layer_norm("norm", s.hidden)},
                 [&] {
                   return in("self_attn", "OrionAttention", attention(s.hidden, s.heads)) +
                          in("mlp", "OrionMLP", gated_mlp(s.hidden, s.inner, s.act)) +
                          layer_norm("input_layernorm", s.hidden) +
                          layer_norm("post_attention_layernorm", s.hidden);
                 });
}

}  // namespace headroom::model::families::orion
