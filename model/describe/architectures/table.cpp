// The table of architectures as an array of all rows of table/*.def.
#include "model/describe/architecture.hpp"
#include "model/describe/architectures/classifiers.hpp"
#include "model/describe/architectures/families.hpp"

namespace headroom::model {

namespace {

using namespace families;

/// The model without its head, the content of a causal language model's first child.
template <Part (*causal)(const Config&)>
Part trunk_of(const Config& c) {
  const Part whole = causal(c);
  const std::string scope = whole.modules.front().path + '.';
  Part body{.no_split = whole.no_split};
  const auto below = [&](const std::string& path) { return path.starts_with(scope); };
  for (const auto& m : whole.modules)
    if (below(m.path))
      body.modules.push_back({.path = m.path.substr(scope.size()),
                              .class_name = m.class_name,
                              .passes = m.passes,
                              .norm = m.norm,
                              .quirks = m.quirks});
  for (Tensor t : whole.tensors) {
    if (!below(t.name)) continue;
    t.name.erase(0, scope.size());
    if (below(t.tied_to)) t.tied_to.erase(0, scope.size());
    body.tensors.push_back(std::move(t));
  }
  for (Cache cache : whole.caches) {
    cache.path.erase(0, scope.size());
    body.caches.push_back(std::move(cache));
  }
  for (const auto& b : whole.blocks) body.blocks.push_back(b.substr(scope.size()));
  return body;
}

#define MODEL(class_name, model_type, family, function) {class_name, model_type, family::function},
#define TRUNK(class_name, model_type, family, function) \
  {class_name, model_type, trunk_of<family::function>},
#define CLASSIFIER(class_name, model_type, head) {class_name, model_type, head},
#define COUNTED(class_name, model_type, family, function, why) \
  {class_name, model_type, family::function, why},

constexpr Architecture rows[] = {
#include "model/describe/architectures/table/table.def"
};

}  // namespace

std::span<const Architecture> architectures() { return rows; }

}  // namespace headroom::model
