// K2 Horizon: a mixture whose layers also choose among matrices for values (mixture of value
// attention), and norms over groups of the residual.
#include <algorithm>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::k2_horizon {

/// A router whose bias corrects the choice, in fp32.
Part biased_router(const Config& c, std::string_view name, Size hidden, Size experts) {
  Part p = tensor("weight", {experts, hidden}, Role::matmul);
  if (c.flag({"moe_gate_bias"}, false)) p = std::move(p) + tensor("bias", {experts}, Role::bias);
  return in(name, "K2HorizonRouter", std::move(p));
}

/// Attention with one matrix for values, or with `mova_num_experts` of which a token uses some.
Part horizon_attention(const Config& c, bool mixes_values) {
  const Classes k{"K2Horizon"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads h = heads_of(c, Defaults{});
  const Bias b = c.bias({"attention_bias"}, false);
  const Size queries = h.query * h.dim, keys = h.kv * h.dim;
  Part p = linear("q_proj", hidden, queries, b) + linear("k_proj", hidden, keys, b) +
           (mixes_values ? Part{} : linear("v_proj", hidden, keys, b)) +
           linear("o_proj", queries, hidden, b);
  if (mixes_values) {
    const Routing r = routing_of(c, {"mova_num_experts"}, {"mova_num_experts_per_tok"});
    p = std::move(p) + biased_router(c, "v_router", hidden, r.experts) +
        in("v_experts", "ModuleList",
           routed(tensor("weight", {r.experts, keys, hidden}, Role::matmul), r));
  }
  if (c.flag({"query_key_norm"}, false)) p = std::move(p) + layer_norms(k("RMSNorm"), h);
  if (c.has("attention_gate_func")) p = std::move(p) + linear("gate_proj", hidden, queries);
  p.caches = {kv_cache(h)};
  return in("self_attn", k(mixes_values ? "MoVAAttention" : "Attention"), std::move(p));
}

/// Source: vLLM 0.33 k2_horizon.py. The mixture stands before attention, because its experts are
/// the layer's experts.
Part k2_horizon(const Config& c) {
  const Classes k{"K2Horizon"};
  const Size hidden = c.dim({"hidden_size"});
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Size experts = c.count({"num_experts"}, 0), every = c.dim({"decoder_sparse_step"}, 1);
  const auto dense = c.dims({"mlp_only_layers"});
  const auto mixes = [&](Size i) {
    return experts > 0 && (i + 1) % every == 0 &&
           std::find(dense.begin(), dense.end(), i) == dense.end();
  };
  const Part values = horizon_attention(c, experts > 0 && c.count({"mova_num_experts"}, 0) > 0);
  const Part plain = horizon_attention(c, false);
  const auto mixture = [&] {
    const Size inner = c.dim({"moe_intermediate_size"});
    const Size shared = inner * c.count({"num_shared_experts"}, 0);
    return in("mlp", k("SparseMoeBlock"),
              biased_router(c, "gate", hidden, experts) +
                  fused_experts(k("Experts"), hidden, inner, routing_of(c, {"num_experts"}), act) +
                  (shared == 0 ? Part{}
                               : in("shared_experts", k("MLP"), gated_mlp(hidden, shared, act))));
  };
  const Size head = heads_of(c, Defaults{}).dim;
  return decoder(c, k, c.dim_or_none({"rope_head_dim"}, 0) > 0 ? c.dim({"rope_head_dim"}) : head,
                 [&](Size i) {
                   return (mixes(i) ? mixture() + values : dense_mlp(c, k) + plain) +
                          rms_norm("input_layernorm", k("RMSNorm"), hidden) +
                          rms_norm("post_attention_layernorm", k("RMSNorm"), hidden);
                 });
}

}  // namespace headroom::model::families::k2_horizon
