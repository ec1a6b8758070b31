// xLLM: Qwen2-MoE with a sigmoid router and shared experts without a gate. With `num_values` its
// attention is a mixture too: a token's values come from a few of many projections.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/qwen.hpp"

namespace headroom::model::families::xllm {

const Classes k{"Xllm"};

/// The bias that corrects a router's scores, where the config has it.
Part correction(const Config& c, Size experts) {
  return c.flag({"moe_gate_bias"}, false) ? in_fp32(score_correction(experts, "bias")) : Part{};
}

/// Attention with a gate on its output. In layers with `routed_values` a router picks projections.
Part gated(const Config& c, Heads h, bool routed_values) {
  const Size hidden = c.dim({"hidden_size"}), width = h.query * h.dim, kv = h.kv * h.dim;
  Part p = linear("q_proj", hidden, width) + linear("k_proj", hidden, kv) +
           linear("gate_proj", hidden, width) + linear("o_proj", width, hidden);
  if (routed_values) {
    const Routing r = routing_of(c, {"num_values"}, {"num_values_per_tok"});
    p = std::move(p) + router("v_router", "Linear", hidden, r.experts) +
        at("v_router", correction(c, r.experts)) +
        in("v_experts", k("RoutedValueExperts"),
           routed(tensor("weight", {r.experts, kv, hidden}, Role::matmul), r));
  } else {
    p = std::move(p) + linear("v_proj", hidden, kv);
  }
  p.caches = {kv_cache(h)};
  return p;
}

/// Source: SGLang 0.5.23 xllm.py.
Part xllm(const Config& c) {
  const Common s = common_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  const bool routes_values = c.count({"num_values"}, 0) > 0;
  const Size dense = routes_values ? c.count({"num_dense_layers"}) : 0;
  const bool mixes = c.count({"num_experts"}, 0) > 0;
  Part mixture;
  if (mixes) {
    const Routing r = routing_of(c, {"num_experts"});
    const Size inner = c.dim({"moe_intermediate_size"});
    const Size shared = c.count({"num_shared_experts"}, 0);
    mixture = router("gate", k("MoEGate"), s.hidden, r.experts) +
              at("gate", correction(c, r.experts)) +
              fused_experts(k("Experts"), s.hidden, inner, r, s.act);
    if (shared > 0)
      mixture = std::move(mixture) +
                in("shared_experts", k("MLP"), gated_mlp(s.hidden, shared * inner, s.act));
  }
  const Part plain = in("mlp", k("MLP"), gated_mlp(s.hidden, s.inner, s.act));
  const Size rotated = c.dim({"rope_head_dim"}, s.heads.dim);
  return decoder(c, k, rotated, [&](Size i) {
    return decoder_layer(
        k, s.hidden,
        routes_values ? gated(c, s.heads, i >= dense) : attention(s.hidden, s.heads, bias),
        mixes && qwen_is_sparse(c, i) ? in("mlp", k("SparseMoeBlock"), mixture) : plain);
  });
}

}  // namespace headroom::model::families::xllm
