#include "model/describe/part.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

namespace headroom::model {

Size Tensor::elements() const {
  return std::accumulate(shape.begin(), shape.end(), Size{1}, std::multiplies<>{});
}

Part operator+(Part a, Part b) {
  auto move = [](auto& to, auto& from) {
    if (to.capacity() == 0) return to.swap(from);
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  move(a.modules, b.modules);
  move(a.tensors, b.tensors);
  move(a.caches, b.caches);
  move(a.blocks, b.blocks);
  for (auto& name : b.no_split)
    if (std::find(a.no_split.begin(), a.no_split.end(), name) == a.no_split.end())
      a.no_split.push_back(std::move(name));
  return a;
}

namespace {

/// A name grows at each level. This is room for most, so that it is allocated once.
constexpr std::size_t usual_length = 60;

}  // namespace

Part at(std::string_view scope, Part part) {
  const std::string prefix = std::string(scope) + '.';
  const auto join = [&](std::string& s) {
    if (s.empty()) {
      s = scope;
      return;
    }
    if (const std::size_t longer = prefix.size() + s.size(); longer > s.capacity())
      s.reserve(std::max(longer, usual_length));
    s.insert(0, prefix);
  };
  for (auto& m : part.modules) join(m.path);
  for (auto& t : part.tensors) join(t.name);
  for (auto& c : part.caches) join(c.path);
  for (auto& b : part.blocks) join(b);
  return part;
}

Part in(std::string_view scope, std::string_view class_name, Part part) {
  part = at(scope, std::move(part));
  part.modules.insert(part.modules.begin(), Module{std::string(scope), std::string(class_name)});
  return part;
}

Part repeated(Part part, Size passes) {
  part.modules.at(0).passes = passes;
  return part;
}

Part looked_up(Part part, Size rows) {
  for (Tensor& t : part.tensors)
    if (t.role == Role::embedding) t.rows_read = rows;
  return part;
}

Part as_norm(Part part, NormKind kind) {
  part.modules.at(0).norm = kind;
  return part;
}

Part with_norm(Part part, std::string_view class_name, NormKind kind) {
  for (Module& m : part.modules)
    if (m.class_name == class_name) m.norm = kind;
  return part;
}

Part with_quirks(Part part, const LayerQuirks& quirks) {
  auto block = part.blocks.begin();  // blocks and modules are in the same order
  for (Module& m : part.modules)
    if (block != part.blocks.end() && m.path == *block) m.quirks = quirks, ++block;
  return part;
}

Part module(std::string_view name, std::string_view class_name) {
  Part part;
  part.modules.push_back({std::string(name), std::string(class_name)});
  return part;
}

Part as_reference(Part part) {
  // transformers 5.23 LongcatFlashExperts: rows of gate_up_proj also for experts that compute
  // nothing
  constexpr std::string_view nothing = ".identity_expert", rows = ".gate_up_proj";
  std::set<std::string, std::less<>> padded;
  for (const Module& m : part.modules)
    if (m.path.ends_with(nothing))
      padded.insert(m.path.substr(0, m.path.size() - nothing.size()).append(rows));
  for (auto& t : part.tensors) {
    if (t.tied_to.empty()) t.tied_to = std::move(t.reference_tied_to);
    if (padded.contains(t.name)) t.shape.at(0) = t.of;
  }
  return part;
}

Part unsplittable(Part part, std::vector<std::string> classes) {
  part.no_split = std::move(classes);
  return part;
}

Part empty_stack(std::string_view scope, Size n) {
  if (n > most_layers)
    throw std::length_error(std::string(scope) + ": " + std::to_string(n) + " layers, at most " +
                            std::to_string(most_layers) + " are supported");
  return {.modules = {{std::string(scope), "ModuleList"}}};
}

void add_layer(Part& stack, std::string_view scope, Size n, Size i, std::string_view class_name,
               Part layer) {
  layer.blocks = {""};
  layer = in(std::string(scope) + '.' + std::to_string(i), class_name, std::move(layer));
  if (i == 0) {
    stack.modules.reserve(1 + static_cast<std::size_t>(n) * layer.modules.size());
    stack.tensors.reserve(static_cast<std::size_t>(n) * layer.tensors.size());
  }
  stack = std::move(stack) + std::move(layer);
}

namespace {

/// Adds the rows of a layer to those of each layer of a stack. Their names are below the layer's.
template <class Row>
class LayerRows {
 public:
  LayerRows(std::vector<Row>& all, std::vector<Row> rows, std::string Row::*name, Size n)
      : all_(all), rows_(std::move(rows)), name_(name) {
    for (Row& row : rows_) names_.push_back(std::exchange(row.*name, {}));
    all.reserve(all.size() + static_cast<std::size_t>(n) * rows_.size());
  }
  void add(const std::string& layer) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      std::string& name = all_.emplace_back(rows_[i]).*name_;
      name.reserve(usual_length);
      name += layer;
      if (!names_[i].empty()) (name += '.') += names_[i];
    }
  }

 private:
  std::vector<Row>& all_;
  std::vector<Row> rows_;  ///< without names, which are long
  std::vector<std::string> names_;
  std::string Row::*name_;
};

}  // namespace

void add_equal_layers(Part& stack, std::string_view scope, Size n, std::string_view class_name,
                      Part layer) {
  layer.modules.insert(layer.modules.begin(), Module{"", std::string(class_name)});
  LayerRows modules(stack.modules, std::move(layer.modules), &Module::path, n);
  LayerRows tensors(stack.tensors, std::move(layer.tensors), &Tensor::name, n);
  LayerRows caches(stack.caches, std::move(layer.caches), &Cache::path, n);
  stack.no_split = std::move(layer.no_split);
  for (Size i = 0; i < n; ++i) {
    const std::string path = std::string(scope) + '.' + std::to_string(i);
    modules.add(path);
    tensors.add(path);
    caches.add(path);
    stack.blocks.push_back(path);
  }
}

}  // namespace headroom::model
