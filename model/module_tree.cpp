#include "model/module_tree.hpp"

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

Eighths element_size(const Tensor& tensor, const std::optional<MapperDtype>& dtype,
                     Eighths held_element) {
  switch (tensor.element) {
    case Element::int64:
    case Element::complex64:
      return 64;
    case Element::int32:
      return 32;
    case Element::boolean:
      return 1;
    case Element::floating:
      break;
  }
  return dtype ? std::min(dtype->element, held_element) : held_element;
}

std::vector<Eighths> sizes_of(const Part& part, const std::optional<MapperDtype>& dtype,
                              Eighths held_element) {
  std::vector<Eighths> sizes;
  sizes.reserve(part.tensors.size());
  for (const Tensor& tensor : part.tensors)
    sizes.push_back(tensor.elements() * element_size(tensor, dtype, held_element));
  return sizes;
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

ModuleTree::ModuleTree(const Part& part, std::optional<MapperDtype> dtype, Eighths held_element)
    : ModuleTree(part, sizes_of(part, dtype, held_element)) {}

ModuleTree::ModuleTree(const Part& part, std::span<const Eighths> sizes) {
  // Modules come in pre-order; each module's tensors follow it, before its children's subtree.
  std::unordered_map<std::string_view, std::vector<const Tensor*>> own;
  for (const Tensor& tensor : part.tensors) own[tensor.module()].push_back(&tensor);
  std::vector<Size> open;  // path from the root to the module being filled
  auto depth_of = [](std::string_view path) {
    return path.empty() ? 0 : 1 + std::count(path.begin(), path.end(), '.');
  };
  auto add = [&](std::string path, std::string_view class_name) {
    const auto index = static_cast<Size>(nodes_.size());
    index_.emplace(path, index);
    nodes_.push_back({.path = std::move(path),
                      .class_name = class_name,
                      .parameters = {},
                      .children = {},
                      .buffers = {}});
    return index;
  };
  for (const Module& module : part.modules) {
    const auto depth = static_cast<std::size_t>(depth_of(module.path));
    while (open.size() > depth) {
      nodes_[static_cast<std::size_t>(open.back())].end = static_cast<Size>(nodes_.size());
      open.pop_back();
    }
    const Size index = add(module.path, module.class_name);
    if (!open.empty()) nodes_[static_cast<std::size_t>(open.back())].children.push_back(index);
    open.push_back(index);
    if (const auto it = own.find(module.path); it != own.end()) {
      for (const Tensor* tensor : it->second) {
        const Size t = add(tensor->name, {});
        nodes_.back().end = t + 1;
        Node& parent = nodes_[static_cast<std::size_t>(index)];
        (tensor->is_parameter() ? parent.parameters : parent.buffers).push_back(t);
      }
    }
  }
  for (const Size index : open)
    nodes_[static_cast<std::size_t>(index)].end = static_cast<Size>(nodes_.size());

  // Storage shared under several names counts once, under the name that comes first.
  std::map<std::string, std::vector<std::string>> groups;
  for (const Tensor& tensor : part.tensors) {
    const std::string& owner = tensor.tied_to.empty() ? tensor.reference_tied_to : tensor.tied_to;
    if (!owner.empty()) groups[owner].push_back(tensor.name);
  }
  std::unordered_map<std::string_view, Size> canonical;  // any name of a group → its first node
  for (auto& [owner, names] : groups) {
    names.push_back(owner);
    std::sort(names.begin(), names.end());
    tied_.push_back(names);
  }
  for (const auto& names : tied_) {
    Size first = static_cast<Size>(nodes_.size());
    for (const std::string& name : names)
      if (const Size i = find(name); i >= 0) first = std::min(first, i);
    for (const std::string& name : names) canonical.emplace(name, first);
  }

  Size order = 0;
  auto measure = [&](std::size_t i) {
    const Tensor& tensor = part.tensors[i];
    const Size index = find(tensor.name);
    if (const auto it = canonical.find(tensor.name); it != canonical.end() && it->second != index)
      return;
    const Eighths size = sizes[i];
    ++order;
    std::string_view path = tensor.name;
    bool direct = true;
    auto count = [&](Node& n) {
      n.size += size;
      if (n.first_tensor < 0) n.first_tensor = order;
    };
    count(nodes_[static_cast<std::size_t>(index)]);
    while (!path.empty()) {
      const auto dot = path.rfind('.');
      path = dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
      if (const Size i = find(path); i >= 0) {
        Node& n = nodes_[static_cast<std::size_t>(i)];
        count(n);
        if (direct) n.own_size += size;
        direct = false;
      }
    }
  };
  for (std::size_t i = 0; i < part.tensors.size(); ++i)
    if (part.tensors[i].is_parameter()) measure(i);
  for (std::size_t i = 0; i < part.tensors.size(); ++i)
    if (!part.tensors[i].is_parameter()) measure(i);
}

Size ModuleTree::find(std::string_view path) const {
  const auto it = index_.find(std::string(path));
  return it == index_.end() ? -1 : it->second;
}

}  // namespace headroom::model
