// Flint and Beam: mixtures of experts with sliding windows. Flint has attention sinks. Beam has
// gates, and norms before and after each half.
#include <set>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/qwen.hpp"

namespace headroom::model::families::flint {

/// Source: transformers 5.23, models/flint. The first two layers are dense by default
/// (mlp_only_layers).
Part flint(const Config& c) {
  const Classes k{"Flint"};
  const Size hidden = c.dim({"hidden_size"}), layers = c.dim({"num_hidden_layers"});
  const Heads heads = heads_of(c, 4, 128);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Size window = c.dim({"sliding_window"}, 513);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Routing r = routing_of(c, {"num_experts"});
  const Part mixture =
      fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}), r, act) +
      router("gate", k("TopKRouter"), hidden, r.experts) +
      in("shared_expert", k("MLP"),
         gated_mlp(hidden, c.count({"shared_expert_intermediate_size"}), act));
  return with_norm(decoder(c, k, rotated_if_scaled(c, heads.dim),
                           [&](Size i) {
                             const bool full = i < 2 || i % 4 == 1 || i == layers - 1;
                             const bool dense = !c.has("mlp_only_layers") && i < 2;
                             return decoder_layer(
                                 k, hidden,
                                 tensor("sinks", {heads.query}, Role::other) +
                                     attention(hidden, heads, bias, bias,
                                               window_of(c, i, window, full ? 0 : window)) +
                                     head_norms(k("RMSNorm"), heads.dim),
                                 dense ? dense_mlp(c, k) : qwen_feed_forward(c, k, i, mixture));
                           }),
                   k("RMSNorm"), NormKind::rms_fp32);
}

/// Source: transformers 5.23, models/beam. By default only layers with a sliding window rotate.
Part beam(const Config& c) {
  const Classes k{"Beam"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size count = c.dim({"num_hidden_layers"}), window = c.dim({"sliding_window"}, 512);
  const Heads heads = heads_of(c, 8, 128);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Routing r = routing_of(c, {"num_experts"});
  const Part mixture = in("mlp", k("MoE"),
                          fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}), r,
                                        activation_class(c, {"hidden_act"}, "silu")) +
                              corrected_router("gate", k("TopKRouter"), hidden, r.experts));
  std::set<std::string> kinds{"sliding_attention"};
  const Part layers = stack("layers", k("DecoderLayer"), count, [&](Size i) {
    const bool full = (i + 1) % 6 == 0 || i == count - 1;
    const bool sparse = c.has("mlp_layer_types") ? is_sparse(c, i, 3) : i >= 3;
    return decoder_layer(k, hidden,
                         tensor("gate_bias", {heads.query}, Role::bias) +
                             attention(hidden, heads, bias, bias,
                                       window_of(c, i, window, full ? 0 : window)) +
                             head_norms(k("RMSNorm"), heads.dim) +
                             linear("gate_proj", hidden, heads.query * heads.dim),
                         sparse ? mixture : dense_mlp(c, k)) +
           rms_norm("pre_feedforward_layernorm", k("RMSNorm"), hidden) +
           rms_norm("post_feedforward_layernorm", k("RMSNorm"), hidden);
  });
  if (c.has("rope_parameters")) {
    const auto types = c.texts({"layer_types"});
    kinds = {types.begin(), types.end()};
  }
  return unsplittable(in("model", k("Model"),
                         embedding("embed_tokens", vocab, hidden) + layers +
                             rms_norm("norm", k("RMSNorm"), hidden) +
                             rotary_by_kind(c, k("RotaryEmbedding"), {kinds.begin(), kinds.end()},
                                            heads.dim, [](const std::string&) { return 1.0; })) +
                          lm_head("model.embed_tokens.weight", vocab, hidden,
                                  c.flag({"tie_word_embeddings"}, false)),
                      {k("DecoderLayer")});
}

}  // namespace headroom::model::families::flint
