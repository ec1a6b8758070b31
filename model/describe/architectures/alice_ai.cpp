// Alice AI: Qwen3-Next's layers with Kimi delta attention (arXiv:2510.26692), a corrected router,
// and residuals that attend to earlier blocks of layers.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/qwen.hpp"
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::alice_ai {

/// Gates of low rank, and a convolution for each of queries, keys and values.
Part delta_layer(const Config& c, Classes k, Size hidden) {
  DeltaNet d = delta_net_of(c);
  d.type = channel_gated_state;
  if (d.key_heads != d.value_heads || d.key_dim != d.value_dim)
    c.fail("linear_num_value_heads",
           "expected as many heads of the same width for keys and values");
  Part p = linear("q_proj", hidden, d.key()) + linear("k_proj", hidden, d.key()) +
           linear("v_proj", hidden, d.value()) +
           depthwise_conv("q_conv1d", d.key(), d.kernel, Bias::no) +
           depthwise_conv("k_conv1d", d.key(), d.kernel, Bias::no) +
           depthwise_conv("v_conv1d", d.value(), d.kernel, Bias::no) +
           tensor("A_log", {d.key_heads}, Role::other) + tensor("dt_bias", {d.key()}, Role::other) +
           linear("f_a_proj", hidden, d.key_dim) + linear("f_b_proj", d.key_dim, d.key()) +
           linear("b_proj", hidden, d.key_heads) + linear("g_a_proj", hidden, d.key_dim) +
           linear("g_b_proj", d.key_dim, d.key()) +
           rms_norm("o_norm", k("RMSNormGated"), d.value_dim) + linear("o_proj", d.value(), hidden);
  p.caches = {delta_net_state(d)};
  return in("linear_attn", k("DeltaAttention"), std::move(p));
}

/// Attention over the outputs of earlier blocks: one score for each, and a norm.
Part over_blocks(std::string_view name, Size hidden) {
  const std::string stem(name);
  return linear(stem + "_proj", hidden, 1) + tensor(stem + "_norm_weight", {hidden}, Role::norm);
}

/// Source: vLLM 0.33 alice_ai.py. The kept outputs of earlier blocks live during a pass only.
Part alice_ai(const Config& c) {
  const Classes k{"AliceAI"};
  const Size hidden = c.dim({"hidden_size"});
  c.dim({"block_attn_res_block_size"});
  const Heads h = heads_of(c, Defaults{});
  const Part delta = delta_layer(c, k, hidden);
  const Part full =
      in("self_attn", k("Attention"), gated_attention(hidden, h, k("RMSNorm"), Bias::no));
  const Routing r = routing_of(c, {"num_experts"});
  Part mixture = fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}), r,
                               activation_class(c, {"hidden_act"}, "silu")) +
                 corrected_router("gate", k("Router"), hidden, r.experts);
  if (c.count({"shared_expert_intermediate_size"}, 0) > 0)
    mixture = std::move(mixture) + qwen_shared_expert(c, k);
  const Part mlp = in("mlp", k("SparseMoeBlock"), std::move(mixture));
  const auto types = c.texts({"layer_types"});
  const auto layer = [&](Size i) {
    const std::string& type = layer_type(c, types, i);
    if (type != "full_attention" && type != "linear_attention")
      c.fail("layer_types", "found '" + type + "', expected full_attention or linear_attention");
    return (type == "full_attention" ? full : delta) + mlp +
           rms_norm("input_layernorm", k("RMSNorm"), hidden) +
           rms_norm("post_attention_layernorm", k("RMSNorm"), hidden) +
           (i > 0 ? over_blocks("attn_res", hidden) : Part{}) + over_blocks("mlp_res", hidden);
  };
  Part body = trunk(c, k, rotated_dims(c, h.dim), layer);
  body = std::move(body) + in("attnres_final", k("AttentionResidual"), over_blocks("res", hidden));
  return with_norm(with_quirks(causal_lm(c, k("Model"), std::move(body)),
                               {.attention = {.rotation = Rotation::concatenated},
                                .router = {.kind = RouterKind::sigmoid}}),
                   k("RMSNorm"), NormKind::rms_plus_1);
}

}  // namespace headroom::model::families::alice_ai
