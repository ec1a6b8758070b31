#include "model/describe/blocks/experts.hpp"

namespace headroom::model {

Routing routing_of(const Config& c, Config::Keys keys, Config::Keys used) {
  const Routing r{c.dim(keys), c.dim(used)};
  if (r.used > r.experts)
    c.fail(*used.begin(), "found " + std::to_string(r.used) + ", expected at most the " +
                              std::to_string(r.experts) + " experts");
  return r;
}

Part router(std::string_view name, std::string_view class_name, Size hidden, Size experts) {
  return in(name, class_name, tensor("weight", {experts, hidden}, Role::matmul));
}

Part score_correction(Size experts, std::string_view name) {
  return buffer(name, {experts}, Element::floating, true);
}

Part score_correction_parameter(Shape shape, std::string_view name) {
  return tensor(name, std::move(shape), Role::other);
}

Part corrected_router(std::string_view name, std::string_view class_name, Size hidden,
                      Size experts) {
  return in(name, class_name,
            tensor("weight", {experts, hidden}, Role::matmul) + score_correction(experts));
}

Part stacked_experts(Size hidden, Size inner, Routing r) {
  return routed(tensor("gate_up_proj", {r.experts, 2 * inner, hidden}, Role::matmul) +
                    tensor("down_proj", {r.experts, hidden, inner}, Role::matmul),
                r);
}

Part fused_experts(std::string_view class_name, Size hidden, Size inner, Routing r,
                   std::string_view activation) {
  return in("experts", class_name,
            stacked_experts(hidden, inner, r) + module("act_fn", activation));
}

bool is_sparse(const Config& c, Size layer, Size dense) {
  const auto types = c.texts({"mlp_layer_types"});
  if (types.empty()) return layer >= c.count({"first_k_dense_replace"}, dense);
  return layer_type(c, types, layer, "mlp_layer_types") == "sparse";
}

Routing shared_routing_of(const Config& c) {
  return routing_of(c, {"n_routed_experts", "num_experts", "num_local_experts"},
                    {"num_experts_per_tok", "num_experts_per_token"});
}

Part shared_mixture(const Config& c, Classes k, std::string_view class_name, Part gate, Bias bias) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  return in("mlp", class_name,
            fused_experts(k("Experts"), hidden, inner, shared_routing_of(c), act) +
                std::move(gate) +
                in("shared_experts", k("MLP"),
                   gated_mlp(hidden, inner * c.count({"n_shared_experts", "num_shared_experts"}),
                             act, bias)));
}

}  // namespace headroom::model
