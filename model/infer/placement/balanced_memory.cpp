// How accelerate evens out the budgets of several GPUs before it fills them.
#include <algorithm>
#include <cmath>
#include <map>

#include "model/infer/placement/mapper.hpp"

namespace headroom::model {
namespace {

bool is_no_split(const MapOptions& options, const Node& node) {
  return std::find(options.no_split.begin(), options.no_split.end(), node.class_name) !=
         options.no_split.end();
}

/// accelerate: the first module of each unsplittable class, in the order in which their tensors
/// come.
Eighths first_of_class(const ModuleTree& tree, const MapOptions& options) {
  std::map<std::string_view, Size> first;
  for (Size i = 0; i < std::ssize(tree.nodes()); ++i) {
    const Node& node = tree.node(i);
    if (node.is_tensor() || node.first_tensor < 0 || !is_no_split(options, node)) continue;
    const auto [seen, fresh] = first.try_emplace(node.class_name, i);
    if (node.first_tensor < tree.node(seen->second).first_tensor) seen->second = i;
  }
  Eighths most = 0;
  for (const auto& [name, i] : first) most = std::max(most, tree.size(i));
  return most;
}

/// accelerate: mean size of the modules that hold tensors but no module that does, whole bytes.
Size mean_leaf_bytes(const ModuleTree& tree) {
  double sum = 0;
  Size count = 0;
  for (Size i = 0; i < std::ssize(tree.nodes()); ++i) {
    const Node& node = tree.node(i);
    if (node.is_tensor() || node.first_tensor < 0 || node.path.empty()) continue;
    const bool leaf = std::none_of(node.children.begin(), node.children.end(),
                                   [&](Size child) { return tree.node(child).first_tensor >= 0; });
    if (!leaf) continue;
    sum += static_cast<double>(tree.size(i)) / 8.0;
    ++count;
  }
  return count == 0 ? 0 : static_cast<Size>(sum / static_cast<double>(count));
}

/// transformers: the largest unsplittable module, and the largest leaf's own tensors.
Eighths largest_anywhere(const ModuleTree& tree, const MapOptions& options) {
  Eighths most = 0;
  for (Size i = 0; i < std::ssize(tree.nodes()); ++i) {
    const Node& node = tree.node(i);
    if (node.is_tensor()) continue;
    // A module without modules holds its own tensors alone.
    if (is_no_split(options, node) || node.children.empty()) most = std::max(most, tree.size(i));
  }
  return most;
}

Size buffer_bytes(const ModuleTree& tree, const MapOptions& options) {
  const double largest = options.mapper == Mapper::transformers
                             ? static_cast<double>(largest_anywhere(tree, options)) / 8.0
                             : std::max(static_cast<double>(first_of_class(tree, options)) / 8.0,
                                        static_cast<double>(mean_leaf_bytes(tree)));
  return static_cast<Size>(1.25 * largest);
}

}  // namespace

MaxMemory balanced_memory(const ModuleTree& tree, MaxMemory memory, Policy policy,
                          const MapOptions& options) {
  std::vector<std::size_t> gpus;
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (memory[i].is_gpu() && memory[i].limit > 0) gpus.push_back(i);
  if (policy == Policy::plain) return memory;
  // accelerate asks torch for the type of every device that is no number.
  if (options.mapper == Mapper::accelerate && memory.back().device == "disk" && memory.back().given)
    throw AccelerateFails(
        "accelerate fails here with a RuntimeError: balancing budgets, it asks torch for a device "
        "named 'disk'");
  if (gpus.size() < 2) return memory;
  const bool low_zero = policy == Policy::balanced_low_0;
  const Eighths total = tree.size(0);
  const auto n = static_cast<Size>(gpus.size());
  const Size share_bytes = total / 8 / (low_zero ? n - 1 : n);
  const Eighths per_gpu = 8 * (share_bytes + buffer_bytes(tree, options));
  for (std::size_t k = 0; k + 1 < gpus.size(); ++k) {
    DeviceMemory& gpu = memory[gpus[k]];
    if (!(low_zero && gpu.device == "0")) gpu.limit = std::min(per_gpu, gpu.limit);
  }
  if (low_zero) {
    Eighths others = 0;
    for (const DeviceMemory& device : memory)
      if (device.is_gpu() && std::stoll(device.device) >= 1 && std::stoll(device.device) < n)
        others += device.limit;
    for (DeviceMemory& device : memory)
      if (device.device == "0")
        device.limit = std::min(std::max<Eighths>(0, total - others), device.limit);
  }
  return memory;
}

}  // namespace headroom::model
