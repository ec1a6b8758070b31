// HRM-Text: two stacks of layers. Each token runs through both stacks several times.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::hrm_text {

/// Source: transformers 5.23, models/hrm_text/{configuration,modeling}_hrm_text.py. A token runs
/// H_cycles * L_cycles times through the L stack and H_cycles times through the H stack. Every run
/// has a separate KV cache.
Part hrm_text_trunk(const Config& c) {
  Common s = common_of(c, {.head_dim = 128});
  s.heads.kv = s.heads.query;
  const Size layers = c.dim({"num_layers_per_stack", "num_hidden_layers"});
  const Size high = c.dim({"H_cycles"}, 2), low = c.dim({"L_cycles"}, 3);
  const Bias b = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  const auto one = [&](std::string_view name, Size runs) {
    return repeated(
        in(name, "HrmTextStack",
           stack("layers", "HrmTextDecoderLayer", layers,
                 [&] {
                   Part attn = attention(s.hidden, s.heads, b, b) +
                               linear("gate_proj", s.hidden, s.heads.query * s.heads.dim, b);
                   attn.caches[0].per_token = times({runs, attn.caches[0].per_token});
                   attn.caches[0].score_dims = times({runs, attn.caches[0].score_dims});
                   return in("self_attn", "HrmTextAttention", std::move(attn)) +
                          in("mlp", "HrmTextMLP", gated_mlp(s.hidden, s.inner, s.act, mlp)) +
                          module("input_layernorm", "HrmTextRMSNorm") +
                          module("post_attention_layernorm", "HrmTextRMSNorm");
                 }) +
               module("final_norm", "HrmTextRMSNorm")),
        runs);
  };
  return with_norm(
      unsplittable(tensor("z_L_init", {s.hidden}, Role::other) +
                       embedding("embed_tokens", c.dim({"vocab_size"}), s.hidden) +
                       rotary("HrmTextRotaryEmbedding", rotated_if_scaled(c, s.heads.dim)) +
                       one("L_module", times({high, low})) + one("H_module", high),
                   {"HrmTextDecoderLayer"}),
      "HrmTextRMSNorm", NormKind::rms_plain);
}
Part hrm_text(const Config& c) { return causal_lm(c, "HrmTextModel", hrm_text_trunk(c)); }

}  // namespace headroom::model::families::hrm_text
