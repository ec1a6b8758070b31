// The modules and tensors of one layer, looked up by their names below it.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/describe/layer_spec.hpp"

namespace headroom::model::layers {

using Names = std::initializer_list<std::string_view>;

class Subtree {
 public:
  Subtree(const Part& part, std::string_view path) : path_(path) {
    for (const Module& m : part.modules) {
      if (m.path == path) class_name_ = m.class_name, quirks_ = m.quirks;
      if (is_inside(m.path)) modules_.push_back(&m);
    }
    for (const Tensor& t : part.tensors)
      if (is_inside(t.name)) tensors_.push_back(&t);
    for (const Cache& c : part.caches)
      if (c.path == path || is_inside(c.path)) caches_.push_back(&c);
  }
  Subtree(const Subtree& all, const Module& at) : path_(at.path), class_name_(at.class_name) {
    for (const Module* m : all.modules_)
      if (is_inside(m->path)) modules_.push_back(m);
    for (const Tensor* t : all.tensors_)
      if (is_inside(t->name)) tensors_.push_back(t);
    for (const Cache* c : all.caches_)
      if (c->path == path_ || is_inside(c->path)) caches_.push_back(c);
  }
  std::string_view class_name() const { return class_name_; }
  const LayerQuirks& quirks() const { return quirks_; }
  /// Name below this path.
  std::string_view below(std::string_view full) const { return full.substr(path_.size() + 1); }
  /// The first module whose name below is one of `names`.
  const Module* module(Names names) const {
    for (const auto name : names)
      for (const Module* m : modules_)
        if (below(m->path) == name) return m;
    return nullptr;
  }
  const Module* module_of_class(Names endings) const {
    for (const Module* m : modules_)
      for (const auto ending : endings)
        if (std::string_view(m->class_name).ends_with(ending)) return m;
    return nullptr;
  }
  const Tensor* tensor(std::string_view name) const {
    for (const Tensor* t : tensors_)
      if (below(t->name) == name) return t;
    return nullptr;
  }
  const Shape* shape(std::string_view name) const {
    const Tensor* t = tensor(name);
    return t == nullptr ? nullptr : &t->shape;
  }
  const Cache* cache(CacheKind kind) const {
    for (const Cache* c : caches_)
      if (c->kind == kind) return c;
    return nullptr;
  }
  const std::vector<const Tensor*>& tensors() const { return tensors_; }

  /// Output rows of the linear layer under one of `names`; 0 where there is none. Conv1D lies
  /// transposed.
  Size outputs(Names names) const { return side(names, 0, 1); }
  Size inputs(Names names) const { return side(names, 1, 0); }
  bool has(Names names) const { return module(names) != nullptr; }
  std::optional<NormSpec> norm(Names names) const {
    const Module* m = module(names);
    if (m == nullptr) return std::nullopt;
    const Shape* s = shape(std::string(below(m->path)) + ".weight");
    return NormSpec{norm_kind(*m), s == nullptr ? 0 : s->front()};
  }

 private:
  bool is_inside(std::string_view name) const {  // most names fail at the dot
    return name.size() > path_.size() && name[path_.size()] == '.' && name.starts_with(path_);
  }
  Size side(Names names, std::size_t linear, std::size_t conv) const {
    const Module* m = module(names);
    if (m == nullptr) return 0;
    const Shape* s = shape(std::string(below(m->path)) + ".weight");
    if (s == nullptr || s->size() != 2) return 0;
    return (*s)[m->class_name == "Conv1D" ? conv : linear];
  }
  std::string_view path_, class_name_;
  LayerQuirks quirks_{};
  std::vector<const Module*> modules_;
  std::vector<const Tensor*> tensors_;
  std::vector<const Cache*> caches_;
};

}  // namespace headroom::model::layers
