// The feed-forward of a layer, dense or of experts.
#include "model/describe/layers/known_names.hpp"
#include "model/describe/layers/read.hpp"

namespace headroom::model::layers {
namespace {

ActivationKind activation_of(const Subtree& tree) {
  const Module* m =
      tree.module({"act_fn", "act", "activation_fn", "activation", "intermediate_act_fn", "relu2",
                   "gelu_impl", "act_mlp", "intermediate.intermediate_act_fn"});
  return m == nullptr ? ActivationKind::input : activation_kind(m->class_name);
}

std::optional<ExpertsSpec> read_experts(const Subtree& tree, const RouterQuirks& quirks) {
  const Module* experts = tree.module({"experts"});
  if (experts == nullptr) return std::nullopt;
  // experts one below the other, gate and up as matrices of their own
  if (const Tensor* w = tree.tensor("experts.mlp.w1"); w != nullptr && quirks.one_by_one) {
    if (w->of == 0) return std::nullopt;
    return ExpertsSpec{
        .experts = w->of, .used = w->used, .inner = w->shape[0] / w->of, .router = quirks};
  }
  if (const Tensor* up = tree.tensor("experts.up.weight"); up != nullptr)
    return ExpertsSpec{.experts = up->shape[0],
                       .used = up->of > 1 ? up->used : 0,
                       .inner = up->shape[1],
                       .router = quirks,
                       .reads_layer_input = tree.has({"primary_router"})};
  const bool gated = tree.tensor("experts.gate_up_proj") != nullptr;
  const Tensor* up = tree.tensor(gated ? "experts.gate_up_proj" : "experts.up_proj");
  if (up == nullptr || tree.shape("experts.down_proj") == nullptr || up->shape.size() != 3)
    return std::nullopt;
  const Module* shared = tree.module({"shared_expert", "shared_experts", "shared_mlp"});
  ExpertsSpec e{.experts = up->shape[0], .used = up->of > 1 ? up->used : 0, .router = quirks};
  e.clamped = tree.shape("experts.gate_up_proj_bias") != nullptr;
  e.gated = gated;
  e.scaled_router = tree.shape("router.scale") != nullptr;
  e.inner = (e.clamped || quirks.all_tokens ? up->shape[2] : up->shape[1]) / (gated ? 2 : 1);
  e.latent = tree.outputs({"fc1_latent_proj", "routed_expert_down_proj"});
  e.latent_norm = tree.norm({"routed_expert_norm"});
  // The router also scores experts that compute nothing.
  if (const Size scored = tree.outputs({"router.classifier"}); scored > 0)
    e.idle = scored - e.experts;
  if (shared != nullptr) {
    e.shared_inner = tree.outputs({"shared_expert.gate_proj", "shared_experts.gate_proj",
                                   "shared_mlp.gate_proj", "shared_experts.up_proj"});
    e.shared_gate = tree.has({"shared_expert_gate"});
  }
  return e;
}

}  // namespace

FeedForwardSpec read_feed_forward(const Subtree& tree, const LayerQuirks& quirks) {
  FeedForwardSpec f;
  f.activation = activation_of(tree);
  f.clamped = quirks.clamps_gating;
  f.bends_up = quirks.bends_up;
  f.adapter_rank = adapter_rank(tree, {"gate_up_proj_adapter_list"});
  if (auto experts = read_experts(tree, quirks.router)) {
    f.experts = experts;
    f.gating = experts->gated ? Gating::separate : Gating::none;
    f.inner = experts->inner;
    if (const Module* act = tree.module({"experts.act_fn"}))
      f.activation = activation_kind(act->class_name);
    return f;
  }
  if (const Size width = tree.outputs({"linear_mlp"}); width > 0) {
    f.one_matrix = true;
    f.inner = width;
    f.hidden = tree.inputs({"linear_mlp"});
    return f;
  }
  if (tree.has({"receptance"})) {
    f.shifted = true;
    f.inner = tree.outputs({"key"});
    f.hidden = tree.inputs({"key"});
    return f;
  }
  const Names both = {"gate_up_proj", "fc1_gate", "Wi", "input_linear"};
  if (const Size fused = tree.outputs(both); fused > 0) {
    f.gating = Gating::fused;
    f.inner = fused / 2;
    f.hidden = tree.inputs(both);
    return f;
  }
  const Names gate = {"gate_proj", "wi_0", "w1", "c_fc_0"};
  if (tree.has(gate) && tree.has({"up_proj", "wi_1", "w3", "c_fc_1"})) {
    f.gating = Gating::separate;
    f.inner = tree.outputs(gate);
    f.hidden = tree.inputs(gate);
    f.drops_inner = tree.has({"dropout"}) && tree.has({"wi_0"});
    f.inner_norm = tree.norm({"ffn_sub_norm"});
    return f;
  }
  const Names up = {"up_proj", "fc1",   "c_fc", "dense_h_to_4h",      "fc_in",      "wi",
                    "lin1",    "dense", "w1",   "intermediate.dense", "linear_fc1", "ffn"};
  f.inner = tree.outputs(up);
  f.hidden = tree.inputs(up);
  f.drops_inner = tree.has({"dropout"}) && tree.has({"wi"});
  const Module* m = tree.module(up);
  f.bias_added = quirks.adds_bias && m != nullptr &&
                 tree.shape(std::string(tree.below(m->path)) + ".bias") != nullptr;
  return f;
}

}  // namespace headroom::model::layers
