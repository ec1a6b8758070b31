// RecurrentGemma (Griffin, arXiv:2402.19427): gated linear recurrences with local attention.
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::recurrent_gemma {

/// Source: transformers 5.23, models/recurrent_gemma. The layers themselves keep their states: one
/// number for each channel, and the last inputs of the convolution. The feed-forward has half of
/// the configured width.
Part recurrent_gemma(const Config& c) {
  const Classes k{"RecurrentGemma"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size query = c.dim({"num_attention_heads"}), width = c.dim({"lru_width"}, hidden);
  const Heads heads{query, c.dim({"num_key_value_heads"}, query), hidden / query};
  const Size block = width / query, kernel = c.dim({"conv1d_width"}, 4);
  const std::string act = activation_class(c, {"hidden_activation"}, "gelu_pytorch_tanh");
  const auto gate = [&](const std::string& name) {
    return tensor(name + "_weight", {query, block, block}, Role::matmul) +
           tensor(name + "_bias", {query, block}, Role::bias);
  };
  Part recurrence = linear("linear_y", hidden, width, Bias::yes) +
                    linear("linear_x", hidden, width, Bias::yes) +
                    linear("linear_out", width, hidden, Bias::yes) +
                    depthwise_conv("conv_1d", width, kernel, Bias::yes) +
                    in("rg_lru", k("Rglru"),
                       tensor("recurrent_param", {width}, Role::other) + gate("input_gate") +
                           gate("recurrent_gate")) +
                    module("act_fn", act);
  recurrence.caches = {shifted_state(width, kernel - 1, width)};
  const Config rope = c.section_or_empty("rope_parameters");
  const Part attn = attention(hidden, heads, c.bias({"attention_bias"}, false), Bias::yes,
                              c.dim({"attention_window_size"}, 2048)) +
                    rotary(k("RotaryEmbedding"), rotated_dims(c, heads.dim, 0.5));
  std::vector<std::string> pattern = c.texts({"block_types"});
  if (pattern.empty()) pattern = {"recurrent", "recurrent", "attention"};
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&](Size i) {
    const std::string& kind = pattern[static_cast<std::size_t>(i) % pattern.size()];
    return rms_norm("temporal_pre_norm", k("RMSNorm"), hidden) +
           (kind == "recurrent" ? in("temporal_block", k("RecurrentBlock"), recurrence)
                                : in("temporal_block", k("Attention"), attn)) +
           rms_norm("channel_pre_norm", k("RMSNorm"), hidden) +
           in("mlp_block", k("Mlp"),
              gated_mlp(hidden, c.dim({"intermediate_size"}) / 2, act, Bias::yes));
  });
  return with_norm(
      with_quirks(
          unsplittable(in("model", k("Model"),
                          buffer("normalizer", {}) + embedding("embed_tokens", vocab, hidden) +
                              layers + rms_norm("final_norm", k("RMSNorm"), hidden)) +
                           lm_head("model.embed_tokens.weight", vocab, hidden,
                                   c.flag({"tie_word_embeddings"}, true)),
                       {k("DecoderLayer")}),
          {.attention = {.rotation = Rotation::concatenated}}),
      k("RMSNorm"), NormKind::rms_plus_1);
}

}  // namespace headroom::model::families::recurrent_gemma
