#include "model/train/tape/mixer_use.hpp"

namespace headroom::model {
namespace {

/// Rows or elements of the first of `names` that there is; 0: none.
Size rows(const Subtree& tree, Names names) {
  for (const auto name : names)
    if (const Shape* s = tree.shape(name)) return s->front();
  return 0;
}

}  // namespace

std::optional<MixerUse> mixer_use(const Model& model, const Subtree& tree) {
  MixerUse m{.hidden = model.shape.hidden_size};
  if (tree.shape("conv.weight") != nullptr && tree.has({"in_proj"})) {
    m.kind = MixerKind::short_convolution;
    m.inner = rows(tree, {"conv.weight"});
    return m;
  }
  if (tree.has({"x_proj"}) && tree.has({"dt_proj"})) {
    m.kind = tree.has({"dt_layernorm"}) ? MixerKind::mamba_with_norms : MixerKind::mamba;
    m.inner = tree.outputs({"dt_proj"});
    m.rank = tree.inputs({"dt_proj"});
    m.state = (tree.outputs({"x_proj"}) - m.rank) / 2;
    return m;
  }
  m.heads = rows(tree, {"A_log"});
  if (m.heads == 0) return std::nullopt;
  m.inner = tree.inputs({"out_proj"});
  if (tree.has({"in_proj_qkvz", "in_proj_qkv"})) {
    m.kind = MixerKind::delta_rule;
    m.key_width = (rows(tree, {"conv1d.weight"}) - m.inner) / 2;
    m.key_dim = rows(tree, {"norm.weight"});  // of a head's values, which keys are as wide as
    return m;
  }
  if (!tree.has({"in_proj"})) return std::nullopt;
  m.kind = MixerKind::mamba2;
  m.projected = tree.outputs({"in_proj"});
  return m;
}

std::string unknown_module(const Subtree& tree, bool mixes) {
  for (const Tensor* t : tree.tensors()) {
    if (t->role == Role::buffer) continue;
    const std::string_view below = tree.below(t->name);
    const auto dot = below.rfind('.');
    const std::string_view last = below.substr(dot == std::string_view::npos ? 0 : dot + 1);
    const std::string_view path = below.substr(0, dot == std::string_view::npos ? 0 : dot);
    const auto before = path.rfind('.');
    const std::string_view module = path.substr(before == std::string_view::npos ? 0 : before + 1);
    const bool own = last == "weight" || last == "bias";
    if (!layer_rows::understood(own ? module : last, mixes)) return std::string(own ? path : below);
  }
  return {};
}

}  // namespace headroom::model
