#include "model/infer/placement/device_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace headroom::model {
namespace {

std::string device_name(Spot spot) {
  return spot >= 0 ? std::to_string(spot) : spot == on_cpu ? "cpu" : "disk";
}
Spot spot_named(std::string_view device) {
  if (device == "cpu") return on_cpu;
  return device == "disk" ? on_disk : static_cast<Spot>(std::stoi(std::string(device)));
}

Spot spot_of(const Assignment& a, const Tensor& tensor, Size block) {
  if (block == before_blocks) return a.embedding;
  if (block == after_blocks) return a.head;
  const auto& spots = tensor.of > 1 && !a.experts.empty() ? a.experts : a.layer;
  return spots[static_cast<std::size_t>(block)];
}

/// Writes the topmost modules that are wholly in one place.
class Writer {
 public:
  Writer(const ModuleTree& tree, std::vector<std::optional<Spot>> spots)
      : tree_(tree), spots_(std::move(spots)) {}

  DeviceMap run() {
    write(0);
    return std::move(map_);
  }

 private:
  void write(Size id) {
    std::optional<Spot> all;
    bool same = true;
    for (Size i = id; i < tree_.node(id).end; ++i) {
      const auto& spot = spots_[static_cast<std::size_t>(i)];
      if (!spot) continue;
      same = same && (!all || *all == *spot);
      all = spot;
    }
    if (!all) return;
    const Node& node = tree_.node(id);
    if (same) {
      map_.emplace_back(node.path, device_name(*all));
      return;
    }
    for (const auto* ids : {&node.parameters, &node.children, &node.buffers})
      for (const Size below : *ids) write(below);
  }

  const ModuleTree& tree_;
  std::vector<std::optional<Spot>> spots_;  // places of tensors
  DeviceMap map_;
};

/// The place of a tensor by the longest entry above it.
class DeviceMapReader {
 public:
  explicit DeviceMapReader(const DeviceMap& map) {
    for (const auto& [path, device] : map) spots_.emplace(path, spot_named(device));
  }
  std::optional<Spot> of(std::string_view name) const {
    for (;;) {
      if (const auto it = spots_.find(name); it != spots_.end()) return it->second;
      if (name.empty()) return std::nullopt;
      const auto dot = name.rfind('.');
      name = name.substr(0, dot == std::string_view::npos ? 0 : dot);
    }
  }

 private:
  std::unordered_map<std::string_view, Spot> spots_;
};

/// The place of the largest tensor seen so far.
struct Largest {
  Size elements = -1;
  Spot spot = on_cpu;
  void see(Size n, Spot where) {
    if (n <= elements) return;
    elements = n;
    spot = where;
  }
};

}  // namespace

DeviceMap device_map_of(const ModuleTree& tree, const Model& model, const Assignment& a) {
  const std::vector<Size>& blocks = model.profile.repeats.blocks();
  std::vector<std::optional<Spot>> spots(tree.nodes().size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Tensor& tensor = model.part.tensors[i];
    if (const Size at = tree.find(tensor.name); at >= 0)
      spots[static_cast<std::size_t>(at)] = spot_of(a, tensor, blocks[i]);
  }
  return Writer(tree, std::move(spots)).run();
}

Assignment assignment_of(const Model& model, const DeviceMap& map) {
  const DeviceMapReader reader(map);
  const std::vector<Size>& blocks = model.profile.repeats.blocks();
  const std::size_t layers = model.profile.layers.size();
  std::vector<std::optional<Spot>> dense(layers), experts(layers);
  Largest embedding, head;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Tensor& tensor = model.part.tensors[i];
    const std::optional<Spot> named = reader.of(tensor.name);
    if (!named) continue;  // accelerate drops the buffers of a module that it splits
    const Spot spot = *named;
    if (blocks[i] < 0) {
      (blocks[i] == before_blocks ? embedding : head).see(tensor.elements(), spot);
      continue;
    }
    const auto at = static_cast<std::size_t>(blocks[i]);
    auto& seen = tensor.of > 1 ? experts[at] : dense[at];
    if (seen && *seen != spot)
      throw std::invalid_argument(
          fmt::format("the map splits {} between {} and {}; memory and speed are known for whole "
                      "layers, and for experts separately",
                      model.profile.layers[at].path, device_name(*seen), device_name(spot)));
    seen = spot;
  }
  std::vector<Spot> layer, separate_experts;
  for (std::size_t i = 0; i < layers; ++i) {
    // A layer without tensors takes no room, so it goes where the one before it is.
    const Spot before = i > 0 ? layer.back() : embedding.spot;
    layer.push_back(dense[i].value_or(experts[i].value_or(before)));
    separate_experts.push_back(experts[i].value_or(layer.back()));
  }
  if (separate_experts == layer) separate_experts.clear();
  // A tied head is with the embedding; where no tensor follows the blocks, the end is with the
  // last.
  const Spot end = head.elements >= 0                         ? head.spot
                   : model.profile.tied_head || layer.empty() ? embedding.spot
                                                              : layer.back();
  return assign(std::move(layer), std::move(separate_experts), embedding.spot, end);
}

bool names_fused_experts(const Model& model, const DeviceMap& map) {
  return std::any_of(map.begin(), map.end(), [&](const auto& entry) {
    const auto& tensors = model.part.tensors;
    return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& t) {
      return t.of > 1 && t.shape.size() > 2 && t.name == entry.first;
    });
  });
}

}  // namespace headroom::model
