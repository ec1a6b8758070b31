// Mixture of experts (arXiv:1701.06538, arXiv:2101.03961): a router and experts of which every
// token uses a few. transformers 5 keeps all experts of a layer in two stacked tensors.
#pragma once

#include <string>
#include <string_view>

#include "model/blocks/decoder.hpp"

namespace headroom::model {

/// Experts under one of `keys`, of which a token uses `num_experts_per_tok`.
inline Routing routing_of(const Config& c, Config::Keys keys,
                          Config::Keys used = {"num_experts_per_tok"}) {
  const Routing r{c.dim(keys), c.dim(used)};
  if (r.used > r.experts)
    c.fail(*used.begin(), "found " + std::to_string(r.used) + ", expected at most the " +
                              std::to_string(r.experts) + " experts");
  return r;
}

/// Scores every expert: weight [experts, hidden].
inline Part router(std::string_view name, std::string_view class_name, Size hidden, Size experts) {
  return in(name, class_name, tensor("weight", {experts, hidden}, Role::matmul));
}

/// The per-expert offset that balances load without a loss term: a buffer in float32
/// (arXiv:2408.15664; DeepSeek-V3, arXiv:2412.19437, section 2.1.2).
inline Part score_correction(Size experts, std::string_view name = "e_score_correction_bias") {
  return buffer(name, {experts}, Element::floating, true);
}
/// The same as a parameter that is not trained.
inline Part score_correction_parameter(Shape shape,
                                       std::string_view name = "e_score_correction_bias") {
  return tensor(name, std::move(shape), Role::other);
}
/// A router with its score correction.
inline Part corrected_router(std::string_view name, std::string_view class_name, Size hidden,
                             Size experts) {
  return in(name, class_name,
            tensor("weight", {experts, hidden}, Role::matmul) + score_correction(experts));
}

/// Gated experts: gate and up in one tensor [experts, 2 inner, hidden], down [experts, hidden,
/// inner].
inline Part fused_experts(std::string_view class_name, Size hidden, Size inner, Routing r,
                          std::string_view activation) {
  return in("experts", class_name,
            routed(tensor("gate_up_proj", {r.experts, 2 * inner, hidden}, Role::matmul) +
                       tensor("down_proj", {r.experts, hidden, inner}, Role::matmul),
                   r) +
                module("act_fn", activation));
}

/// Layers whose feed-forward is a mixture: `mlp_layer_types` says so, else all from
/// `first_k_dense_replace` on, which is `dense` where the config has no such key.
inline bool is_sparse(const Config& c, Size layer, Size dense) {
  const auto types = c.texts({"mlp_layer_types"});
  if (types.empty()) return layer >= c.count({"first_k_dense_replace"}, dense);
  return layer_type(c, types, layer, "mlp_layer_types") == "sparse";
}

/// The same config in classes that take `num_experts`, where a file has it, for the number of
/// routed experts, whatever else it says.
Config with_routed_experts(const Config& c);

/// Experts under the keys that DeepSeek and those after it use.
inline Routing shared_routing_of(const Config& c) {
  return routing_of(c, {"n_routed_experts", "num_experts", "num_local_experts"},
                    {"num_experts_per_tok", "num_experts_per_token"});
}

/// DeepSeek's mixture (arXiv:2401.06066): routed experts, `gate`, and shared experts that every
/// token uses, held as one gated feed-forward of their widths together.
inline Part shared_mixture(const Config& c, Classes k, std::string_view class_name, Part gate,
                           Bias bias = Bias::no) {
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
