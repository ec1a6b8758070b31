// The text model of Aria (arXiv:2410.05993): experts stored transposed besides shared ones.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::aria_text {

/// Source: transformers 5.23, models/aria.
Part aria_text(const Config& c) {
  const Classes k{"AriaText"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Heads heads = heads_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Routing r = routing_of(c, {"moe_num_experts"}, {"moe_topk"});
  const Part experts = routed(tensor("gate_up_proj", {r.experts, hidden, 2 * inner}, Role::matmul) +
                                  tensor("down_proj", {r.experts, inner, hidden}, Role::matmul),
                              r) +
                       module("act_fn", activation_class("silu"));
  const Part mlp = in("mlp", k("MoELayer"),
                      router("router", k("TopKRouter"), hidden, r.experts) +
                          in("experts", "AriaExperts", experts) +
                          in("shared_experts", "AriaSharedExpertsMLP",
                             gated_mlp(hidden, inner * c.count({"moe_num_shared_experts"}, 2), act,
                                       c.bias({"mlp_bias"}, false))));
  return decoder(c, k, rotated_if_scaled(c, heads.dim), [&] {
    return decoder_layer(k, hidden, attention(hidden, heads, bias, bias), mlp);
  });
}

}  // namespace headroom::model::families::aria_text
