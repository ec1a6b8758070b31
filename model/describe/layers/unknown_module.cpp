// Modules of a layer whose names no row knows.
#include "model/describe/layers/known_names.hpp"
#include "model/describe/layers/read.hpp"

namespace headroom::model::layers {

namespace {

/// Modules and tensors with weights that the layer's parts read themselves.
bool is_part_of(std::string_view below, const Subtree& tree, const LayerSpec& layer) {
  const auto within = [&](std::string_view path) { return below.starts_with(path); };
  const AttentionQuirks& attention = tree.quirks().attention;
  if (attention.chooses_keys && below.find("indexer.") != std::string_view::npos) return true;
  if (below == "router.scale" && tree.shape("router.per_expert_scale") != nullptr) return true;
  if (layer.hashed && within("ple.")) return true;
  if (layer.streams && layer.streams->kind == StreamKind::gated &&
      (within("attn_hyper_connection.") || within("mlp_hyper_connection.")))
    return true;
  if (layer.streams && layer.streams->steps > 0 && (within("attn_hc.") || within("ffn_hc.")))
    return true;
  return attention.compresses > 0 && (within("self_attn.") || within("mlp.gate."));
}

}  // namespace

std::string unknown_module(const Subtree& tree, const LayerSpec& layer) {
  const bool mixes = layer.mixer.has_value();
  for (const Tensor* t : tree.tensors()) {
    if (t->role == Role::buffer) continue;
    const std::string_view below = tree.below(t->name);
    if (is_part_of(below, tree, layer)) continue;
    const auto dot = below.rfind('.');
    const std::string_view last = below.substr(dot == std::string_view::npos ? 0 : dot + 1);
    const std::string_view path = below.substr(0, dot == std::string_view::npos ? 0 : dot);
    const auto before = path.rfind('.');
    const std::string_view module = path.substr(before == std::string_view::npos ? 0 : before + 1);
    const bool own = last == "weight" || last == "bias";
    if (!is_understood(own ? module : last, mixes)) return std::string(own ? path : below);
  }
  return {};
}

}  // namespace headroom::model::layers
