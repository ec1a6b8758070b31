// ZAYA1 (arXiv:2511.17127): short convolutions mix queries and keys before attention. The router
// has hidden layers. A token uses one expert or none.
#include <set>

#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::zaya {

/// A router with hidden layers. It scores each expert, and the choice of no expert.
Part gate(Classes k, Size hidden, Size width, Size experts, Size i) {
  return in("gate", k("Router"),
            (i == 0 ? Part{} : tensor("router_states_scale", {width}, Role::other)) +
                linear("down_proj", hidden, width, Bias::yes) +
                in("router_mlp", k("RouterMLP"),
                   rms_norm("norm", k("RMSNorm"), width) + linear("fc1", width, width, Bias::yes) +
                       linear("fc2", width, width, Bias::yes) +
                       linear("out_proj", width, experts + 1) + module("act_fn", "GELU")) +
                buffer("balancing_biases", {experts + 1}, Element::floating, true));
}

Part scaling(Classes k, Size hidden, std::string_view name) {
  Part p;
  for (const std::string_view one :
       {"hidden_states_scale", "hidden_states_bias", "residual_scale", "residual_bias"})
    p = std::move(p) + tensor(one, {hidden}, Role::other);
  return in(name, k("ResidualScaling"), std::move(p));
}

/// Source: transformers 5.23, models/zaya. Besides keys and values, a layer caches the last inputs
/// of its convolutions. It also caches half of a value, which lags by one token.
Part zaya(const Config& c) {
  const Classes k{"Zaya"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Heads h = heads_of(c, 2, 128);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Size queries = h.query * h.dim, keys = h.kv * h.dim, channels = queries + keys;
  const Size first = c.dim({"cca_time0"}, 2), second = c.dim({"cca_time1"}, 2);
  const Size window = c.count({"sliding_window"}, 0), width = c.dim({"router_hidden_size"}, 256);
  const Routing r = routing_of(c, {"num_experts"});
  const Part grouped = in("conv_qk_grouped", "Conv1d",
                          tensor("weight", {channels, h.dim, second}, Role::conv) +
                              tensor("bias", {channels}, Role::bias));
  const Part projections =
      linear("q_proj", hidden, queries, bias) + linear("k_proj", hidden, keys, bias) +
      linear("v_proj_current", hidden, keys / 2, bias) +
      linear("v_proj_delayed", hidden, keys / 2, bias) +
      depthwise_conv("conv_qk_depthwise", channels, first, Bias::yes) + grouped;
  const auto types = c.texts({"layer_types"});
  const auto attn = [&](Size i) {
    const bool windowed = !types.empty() && layer_type(c, types, i) == "hybrid_sliding";
    Part p = linear("o_proj", queries, hidden, bias) +
             in("qkv_proj", k("CCAProjection"), projections) +
             in("qk_norm", k("QKNorm"), tensor("temp", {h.kv}, Role::other));
    p.caches = {kv_cache(h, windowed ? window : 0),
                shifted_state(channels, first + second - 2, keys / 2)};
    return p;
  };
  const Part experts = fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}), r,
                                     activation_class(c, {"hidden_act"}, "silu"));
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&](Size i) {
    return decoder_layer(
               k, hidden, attn(i),
               in("mlp", k("SparseMoeBlock"), gate(k, hidden, width, r.experts, i) + experts)) +
           scaling(k, hidden, "post_attention_residual_scale") +
           scaling(k, hidden, "post_mlp_residual_scale");
  });
  std::set<std::string> kinds(types.begin(), types.end());
  if (kinds.empty()) kinds = {"hybrid"};
  return unsplittable(
      in("model", k("Model"),
         tensor("input_hidden_states_scale", {hidden}, Role::other) +
             tensor("input_hidden_states_bias", {hidden}, Role::other) +
             embedding("embed_tokens", vocab, hidden) + layers +
             rms_norm("norm", k("RMSNorm"), hidden) +
             rotary_by_kind(c, k("RotaryEmbedding"), {kinds.begin(), kinds.end()}, h.dim,
                            [](const std::string&) { return 0.5; })) +
          lm_head("model.embed_tokens.weight", vocab, hidden, c.flag({"tie_word_embeddings"}, true),
                  c.bias({"lm_head_bias"}, false)),
      {k("DecoderLayer")});
}

}  // namespace headroom::model::families::zaya
