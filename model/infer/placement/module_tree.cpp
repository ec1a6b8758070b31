#include "model/infer/placement/module_tree.hpp"

#include <algorithm>
#include <map>

#include "hardware/names.hpp"

namespace headroom::model {
namespace {

struct DtypeRow {
  std::string_view name;
  Eighths element;
};
constexpr DtypeRow dtypes[] = {{"float32", 32}, {"fp32", 32},     {"float16", 16}, {"fp16", 16},
                               {"half", 16},    {"bfloat16", 16}, {"bf16", 16},    {"int8", 8},
                               {"fp8", 8},      {"int4", 4},      {"int2", 2}};

Eighths element_size(Element element, Eighths floating, Counting counting) {
  switch (element) {
    case Element::int64:
    case Element::complex64:
      return 64;
    case Element::int32:
      return 32;
    case Element::boolean:
      return counting == Counting::accelerate ? 1 : 8;
    case Element::floating:
    case Element::float32:  // accelerate counts parameters in the dtype that it is given
      break;
  }
  return floating;
}

}  // namespace

std::optional<MapperDtype> mapper_dtype(std::string_view name) {
  const std::string wanted = lower(name);
  if (wanted == "none") return std::nullopt;
  std::vector<std::string> known{"none"};
  for (const DtypeRow& row : dtypes) {
    if (row.name == wanted) return MapperDtype{wanted, row.element};
    known.emplace_back(row.name);
  }
  throw unknown_name("dtype", name, known);
}

ModuleTree::ModuleTree(const Part& part, const std::optional<MapperDtype>& dtype,
                       Eighths held_element, Counting counting)
    : ModuleTree(part) {
  measure(dtype, held_element, counting);
}

ModuleTree::ModuleTree(const Part& part, std::span<const Eighths> sizes) : ModuleTree(part) {
  measure(sizes);
}

ModuleTree::ModuleTree(const Part& part) {
  nodes_.reserve(part.modules.size() + part.tensors.size());
  parents_.reserve(nodes_.capacity());
  index_.reserve(nodes_.capacity());
  add_nodes(part);
  tie(part);
  count(part);
  sizes_.resize(nodes_.size());
}

/// Modules come in pre-order; each module's tensors follow it, before its children's subtree.
void ModuleTree::add_nodes(const Part& part) {
  std::unordered_map<std::string_view, std::vector<const Tensor*>> own;
  for (const Tensor& tensor : part.tensors) own[tensor.module()].push_back(&tensor);
  std::vector<Size> open;  // path from the root to the module being filled
  auto depth_of = [](std::string_view path) {
    return path.empty() ? 0 : 1 + std::count(path.begin(), path.end(), '.');
  };
  auto add = [&](std::string path, std::string_view class_name, Size parent) {
    const auto index = static_cast<Size>(nodes_.size());
    nodes_.push_back({.path = std::move(path),
                      .class_name = class_name,
                      .parameters = {},
                      .children = {},
                      .buffers = {}});
    parents_.push_back(static_cast<std::size_t>(std::max<Size>(0, parent)));
    index_.emplace(nodes_.back().path, index);
    return index;
  };
  for (const Module& module : part.modules) {
    const auto depth = static_cast<std::size_t>(depth_of(module.path));
    while (open.size() > depth) {
      nodes_[static_cast<std::size_t>(open.back())].end = static_cast<Size>(nodes_.size());
      open.pop_back();
    }
    const Size index = add(module.path, module.class_name, open.empty() ? 0 : open.back());
    if (!open.empty()) nodes_[static_cast<std::size_t>(open.back())].children.push_back(index);
    open.push_back(index);
    if (const auto it = own.find(module.path); it != own.end()) {
      for (const Tensor* tensor : it->second) {
        const Size t = add(tensor->name, {}, index);
        nodes_.back().end = t + 1;
        Node& parent = nodes_[static_cast<std::size_t>(index)];
        (tensor->is_parameter() ? parent.parameters : parent.buffers).push_back(t);
      }
    }
  }
  for (const Size index : open)
    nodes_[static_cast<std::size_t>(index)].end = static_cast<Size>(nodes_.size());
}

/// Groups of names that share storage, and the nodes that accelerate takes for being in one: a
/// substring test.
void ModuleTree::tie(const Part& part) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const Tensor& tensor : part.tensors) {
    const std::string& owner = tensor.tied_to.empty() ? tensor.reference_tied_to : tensor.tied_to;
    if (!owner.empty()) groups[owner].push_back(tensor.name);
  }
  for (auto& [owner, names] : groups) {
    names.push_back(owner);
    std::sort(names.begin(), names.end());
    tied_.push_back(names);
    for (Node& node : nodes_)
      for (const std::string& name : names)
        if (!node.tied && node.path.size() <= name.size())
          node.tied = (name + '.').find(node.path + '.') != std::string::npos;
  }
}

/// Storage shared under several names counts once, under the name that comes first.
void ModuleTree::count(const Part& part) {
  std::unordered_map<std::string_view, Size> canonical;  // any name of a group → its first node
  for (const auto& names : tied_) {
    Size first = static_cast<Size>(nodes_.size());
    for (const std::string& name : names)
      if (const Size i = find(name); i >= 0) first = std::min(first, i);
    for (const std::string& name : names) canonical.emplace(name, first);
  }
  const auto add = [&](std::size_t i) {
    const Tensor& tensor = part.tensors[i];
    const Size index = find(tensor.name);
    if (const auto it = canonical.find(tensor.name); it != canonical.end() && it->second != index)
      return;
    const bool is_tied = canonical.contains(tensor.name);
    counted_.push_back({static_cast<std::size_t>(index), i, tensor.elements(), tensor.element,
                        !is_tied || tensor.role != Role::head});
    for (auto at = static_cast<std::size_t>(index);; at = parents_[at]) {
      if (nodes_[at].first_tensor < 0) nodes_[at].first_tensor = std::ssize(counted_);
      if (at == 0) break;
    }
  };
  for (std::size_t i = 0; i < part.tensors.size(); ++i)
    if (part.tensors[i].is_parameter()) add(i);
  for (std::size_t i = 0; i < part.tensors.size(); ++i)
    if (!part.tensors[i].is_parameter()) add(i);
}

void ModuleTree::measure(const std::optional<MapperDtype>& dtype, Eighths held_element,
                         Counting counting) {
  const Eighths floating = dtype ? std::min(dtype->element, held_element) : held_element;
  std::fill(sizes_.begin(), sizes_.end(), 0);
  for (const Counted& c : counted_)
    if (counting == Counting::accelerate || c.owned)
      sizes_[c.node] = c.elements * element_size(c.element, floating, counting);
  add_up();
}

void ModuleTree::measure(std::span<const Eighths> sizes) {
  std::fill(sizes_.begin(), sizes_.end(), 0);
  for (const Counted& c : counted_) sizes_[c.node] = sizes[c.tensor];
  add_up();
}

/// Children come after their parents.
void ModuleTree::add_up() {
  for (std::size_t i = sizes_.size(); i-- > 1;) sizes_[parents_[i]] += sizes_[i];
}

Size ModuleTree::find(std::string_view path) const {
  const auto it = index_.find(path);
  return it == index_.end() ? -1 : it->second;
}

}  // namespace headroom::model
