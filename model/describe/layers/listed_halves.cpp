// Layers whose attentions, feed-forwards and norms come in lists, one entry for each half of the
// layer (LongCat-Flash, arXiv:2509.01322).
#include "model/describe/layers/read.hpp"

namespace headroom::model::layers {
namespace {

constexpr std::string_view lists[] = {"self_attn", "mlps", "input_layernorm",
                                      "post_attention_layernorm"};

/// The name below the layer that `below` has in half `number`, as if there were no lists; empty: it
/// belongs to another half. The mixture beside the lists belongs to the first half.
std::string name_in_half(std::string_view below, std::size_t number) {
  const auto dot = below.find('.');
  const std::string_view head = below.substr(0, dot);
  for (const std::string_view list : lists) {
    if (head != list) continue;
    if (dot == std::string_view::npos) return {};  // the list itself
    const std::string_view rest = below.substr(dot + 1);
    const auto end = rest.find('.');
    if (rest.substr(0, end) != std::to_string(number)) return {};
    const std::string name(list == "mlps" ? "mlp" : list);
    return end == std::string_view::npos ? name : name + std::string(rest.substr(end));
  }
  if (number > 0) return {};
  if (head != "mlp") return std::string(below);
  return "moe" + std::string(below.substr(head.size()));
}

}  // namespace

std::vector<Part> listed_halves(const Part& part, const Subtree& tree, std::string_view path) {
  std::vector<Part> halves;
  for (std::size_t number = 0; tree.has({"self_attn.1"}) && number < 2; ++number) {
    Part half;
    const auto taken = [&](std::string_view name) {
      const bool inside =
          name.size() > path.size() && name.starts_with(path) && name[path.size()] == '.';
      const std::string below = inside ? name_in_half(tree.below(name), number) : std::string{};
      return below.empty() ? below : std::string(path) + "." + below;
    };
    for (const Module& m : part.modules) {
      const std::string name = m.path == path ? m.path : taken(m.path);
      if (name.empty()) continue;
      half.modules.push_back(m);
      half.modules.back().path = name;
    }
    for (const Tensor& t : part.tensors)
      if (const std::string name = taken(t.name); !name.empty()) {
        half.tensors.push_back(t);
        half.tensors.back().name = name;
      }
    for (const Cache& c : part.caches)
      if (const std::string name = taken(c.path); !name.empty()) {
        half.caches.push_back(c);
        half.caches.back().path = name;
      }
    half.blocks = {std::string(path)};
    halves.push_back(std::move(half));
  }
  return halves;
}

}  // namespace headroom::model::layers
