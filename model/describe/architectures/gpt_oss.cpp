// gpt-oss (arXiv:2508.10925): biased experts stored transposed, and attention sinks. Every other
// layer has a sliding window of 128 tokens.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/words.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::gpt_oss {

/// The mixture of experts of the family `k`.
Part biased_experts(const Config& c, Classes k) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Routing r = routing_of(c, {"num_local_experts", "num_experts"});
  const Part experts = routed(tensor("gate_up_proj", {r.experts, hidden, 2 * inner}, Role::matmul) +
                                  tensor("gate_up_proj_bias", {r.experts, 2 * inner}, Role::bias) +
                                  tensor("down_proj", {r.experts, inner, hidden}, Role::matmul) +
                                  tensor("down_proj_bias", {r.experts, hidden}, Role::bias),
                              r);
  return in("mlp", k("MLP"),
            in("router", k("TopKRouter"),
               tensor("weight", {r.experts, hidden}, Role::matmul) +
                   tensor("bias", {r.experts}, Role::bias)) +
                in("experts", k("Experts"), experts));
}

Part with_sinks(const Config& c, Heads heads, Size window) {
  const Bias bias = c.bias({"attention_bias"}, true);
  return tensor("sinks", {heads.query}, Role::other) +
         attention(c.dim({"hidden_size"}), heads, bias, bias, window);
}

Heads heads_with_sinks(const Config& c) {
  return {c.dim({"num_attention_heads"}), c.dim({"num_key_value_heads"}), c.dim({"head_dim"}, 64)};
}

/// Source: transformers 5.23, models/gpt_oss.
Part gpt_oss(const Config& c) {
  const Classes k{"GptOss"};
  const Heads heads = heads_with_sinks(c);
  const Size window = c.count({"sliding_window"}, 128);
  const Part mlp = biased_experts(c, k);
  return with_norm(
      with_quirks(decoder(c, k, rotated_if_scaled(c, heads.dim),
                          [&](Size i) {
                            return decoder_layer(
                                k, c.dim({"hidden_size"}),
                                with_sinks(c, heads,
                                           window_of(c, i, window, i % 2 == 0 ? window : 0)),
                                mlp);
                          }),
                  {.attention = {.rotation = Rotation::halves, .softmax_fp32 = false},
                   .router = {.kind = RouterKind::softmax_of_chosen}}),
      k("RMSNorm"), NormKind::rms_fp32);
}

/// A bidirectional tagger of private data, without a KV cache. Source: transformers 5.23,
/// models/openai_privacy_filter.
Part openai_privacy_filter(const Config& c) {
  const Classes k{"OpenAIPrivacyFilter"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads heads = heads_with_sinks(c);
  Part layer = decoder_layer(k, hidden, with_sinks(c, heads, 0), biased_experts(c, k));
  layer.caches.clear();
  Part body = unsplittable(
      embedding("embed_tokens", c.dim({"vocab_size"}), hidden) +
          stack("layers", k("EncoderLayer"), c.dim({"num_hidden_layers"}), [&] { return layer; }) +
          rms_norm("norm", k("RMSNorm"), hidden) +
          rotary(k("RotaryEmbedding"), rotated_if_scaled(c, heads.dim)),
      {k("EncoderLayer")});
  if (is_for(c, "Model")) return body;
  const Size kinds = c.has("num_labels") || c.has("id2label") ? labels(c) : 33;
  return in("model", k("Model"), std::move(body)) + dropout() +
         linear("score", hidden, kinds, c.bias({"token_classification_bias"}, true));
}

}  // namespace headroom::model::families::gpt_oss
