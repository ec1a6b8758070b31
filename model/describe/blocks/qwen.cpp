#include "model/describe/blocks/qwen.hpp"

#include <algorithm>

namespace headroom::model {

Part qwen_mixture(const Config& c, Classes k) {
  const Size hidden = c.dim({"hidden_size"});
  return router("gate", k("TopKRouter"), hidden, routing_of(c, {"num_experts"}).experts) +
         fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}),
                       routing_of(c, {"num_experts"}), activation_class(c, {"hidden_act"}, "silu"));
}

Part qwen_shared_expert(const Config& c, Classes k) {
  const Size hidden = c.dim({"hidden_size"});
  return in("shared_expert", k("MLP"),
            gated_mlp(hidden, c.count({"shared_expert_intermediate_size"}),
                      activation_class(c, {"hidden_act"}, "silu"))) +
         linear("shared_expert_gate", hidden, 1);
}

bool qwen_is_sparse(const Config& c, Size i) {
  const auto dense = c.dims({"mlp_only_layers"});
  return std::find(dense.begin(), dense.end(), i) == dense.end() &&
         (i + 1) % c.dim({"decoder_sparse_step"}, 1) == 0;
}

Part qwen_feed_forward(const Config& c, Classes k, Size i, const Part& mixture) {
  if (qwen_is_sparse(c, i)) return in("mlp", k("SparseMoeBlock"), mixture);
  return in("mlp", k("MLP"),
            gated_mlp(c.dim({"hidden_size"}), c.dim({"intermediate_size"}),
                      activation_class(c, {"hidden_act"}, "silu")));
}

Part gated_attention(Size hidden, Heads h, std::string_view norm_class, Bias bias) {
  Part p = linear("q_proj", hidden, 2 * h.query * h.dim, bias) +
           linear("k_proj", hidden, h.kv * h.dim, bias) +
           linear("v_proj", hidden, h.kv * h.dim, bias) +
           linear("o_proj", h.query * h.dim, hidden, bias) + head_norms(norm_class, h.dim);
  p.caches = {kv_cache(h)};
  return p;
}

Part gated_delta_net(Size hidden, const DeltaNet& d, std::string_view norm_class, Part inputs,
                     Inputs order) {
  const Part tail =
      rms_norm("norm", norm_class, d.value_dim) + linear("out_proj", d.value(), hidden);
  Part p = tensor("dt_bias", {d.value_heads}, Role::other) +
           tensor("A_log", {d.value_heads}, Role::other) +
           depthwise_conv("conv1d", d.convolved(), d.kernel, Bias::no);
  p = order == Inputs::first ? std::move(p) + std::move(inputs) + tail
                             : std::move(p) + tail + std::move(inputs);
  p.caches = {delta_net_state(d)};
  return p;
}

bool is_full_attention(const Config& c, Size i) {
  const auto types = c.texts({"layer_types"});
  if (types.empty()) return (i + 1) % c.dim({"full_attention_interval"}, 4) == 0;
  return layer_type(c, types, i) == "full_attention";
}

}  // namespace headroom::model
