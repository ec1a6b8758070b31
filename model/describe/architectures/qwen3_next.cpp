// Qwen3-Next and the text models of Qwen3.5: one attention layer for every three layers of gated
// delta nets.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/qwen.hpp"

namespace headroom::model {

/// A decoder layer. Its kind gives the name of the mixer.
Part hybrid_layer(const Config& c, Classes k, Size i, const Part& full, const Part& linear,
                  Part feed_forward) {
  const Size hidden = c.dim({"hidden_size"});
  return (is_full_attention(c, i) ? in("self_attn", k("Attention"), full)
                                  : in("linear_attn", k("GatedDeltaNet"), linear)) +
         std::move(feed_forward) + rms_norm("input_layernorm", k("RMSNorm"), hidden) +
         rms_norm("post_attention_layernorm", k("RMSNorm"), hidden);
}

Heads gated_heads(const Config& c) {
  Heads heads = heads_of(c);
  heads.dim = c.dim({"head_dim"}, 256);
  return heads;
}

Part qwen3_5_text_model(const Config& c, Classes k) {
  const Size hidden = c.dim({"hidden_size"});
  const Heads heads = gated_heads(c);
  const DeltaNet d = delta_net_of(c);
  const Part full = gated_attention(hidden, heads, k("RMSNorm"), c.bias({"attention_bias"}, false));
  const Part linears = gated_delta_net(
      hidden, d, k("RMSNormGated"),
      linear("in_proj_qkv", hidden, d.convolved()) + linear("in_proj_z", hidden, d.value()) +
          linear("in_proj_b", hidden, d.value_heads) + linear("in_proj_a", hidden, d.value_heads),
      Inputs::last);
  const Part mlp =
      c.has("num_experts")
          ? in("mlp", k("SparseMoeBlock"), qwen_mixture(c, k) + qwen_shared_expert(c, k))
          : in("mlp", k("MLP"),
               gated_mlp(hidden, c.dim({"intermediate_size"}),
                         activation_class(c, {"hidden_act"}, "silu")));
  return with_norm(
      with_quirks(
          unsplittable(embedding("embed_tokens", c.dim({"vocab_size"}), hidden) +
                           stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}),
                                 by_kind([&](Size i) { return is_full_attention(c, i); },
                                         [&](Size i) {
                                           return hybrid_layer(c, k, i, full, linears, mlp);
                                         })) +
                           rms_norm("norm", k("RMSNorm"), hidden) +
                           rotary(k("TextRotaryEmbedding"), rotated_dims(c, heads.dim, 0.25)),
                       {k("DecoderLayer")}),
          {.attention = {.rotation = Rotation::concatenated, .tables_by_token = true}}),
      k("RMSNorm"), NormKind::rms_plus_1);
}

namespace families::qwen3_next {

/// Source: transformers 5.23, models/qwen3_next.
Part qwen3_next(const Config& c) {
  const Classes k{"Qwen3Next"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads heads = gated_heads(c);
  const DeltaNet d = delta_net_of(c);
  const Part full = gated_attention(hidden, heads, k("RMSNorm"), c.bias({"attention_bias"}, false));
  const Part linears = gated_delta_net(hidden, d, k("RMSNormGated"),
                                       linear("in_proj_qkvz", hidden, 2 * (d.key() + d.value())) +
                                           linear("in_proj_ba", hidden, 2 * d.value_heads),
                                       Inputs::first);
  const Part mixture = qwen_mixture(c, k) + qwen_shared_expert(c, k);
  return with_norm(with_quirks(decoder(c, k, rotated_dims(c, heads.dim, 0.25),
                                       [&](Size i) {
                                         return hybrid_layer(c, k, i, full, linears,
                                                             qwen_feed_forward(c, k, i, mixture));
                                       }),
                               {.attention = {.rotation = Rotation::concatenated}}),
                   k("RMSNorm"), NormKind::rms_plus_1);
}

/// The text model with its head. The class also lists the vision model's blocks as unsplittable.
static Part qwen3_5_decoder(const Config& c, Classes k) {
  return in("model", k("TextModel"), qwen3_5_text_model(c, k)) +
         unsplittable(lm_head("model.embed_tokens.weight", c.dim({"vocab_size"}),
                              c.dim({"hidden_size"}), c.flag({"tie_word_embeddings"}, false)),
                      {k("VisionBlock")});
}
Part qwen3_5(const Config& c) { return qwen3_5_decoder(c, {"Qwen3_5"}); }
Part qwen3_5_moe(const Config& c) { return qwen3_5_decoder(c, {"Qwen3_5Moe"}); }

}  // namespace families::qwen3_next
}  // namespace headroom::model
