// Modules of a layer whose names no row knows.
#include "model/describe/layers/known_names.hpp"
#include "model/describe/layers/read.hpp"

namespace headroom::model::layers {

std::string unknown_module(const Subtree& tree, bool mixes) {
  for (const Tensor* t : tree.tensors()) {
    if (t->role == Role::buffer) continue;
    const std::string_view below = tree.below(t->name);
    if (tree.quirks().attention.chooses_keys && below.find("indexer.") != std::string_view::npos)
      continue;
    if (below == "router.scale" && tree.shape("router.per_expert_scale") != nullptr) continue;
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
