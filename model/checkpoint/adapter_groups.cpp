#include "model/checkpoint/adapter_groups.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>

namespace headroom::model {
namespace {

constexpr std::string_view attention_inputs[] = {"q_proj", "k_proj", "v_proj"};
constexpr std::string_view attention_output[] = {"o_proj"};
constexpr std::string_view feed_forward[] = {"gate_proj", "up_proj", "down_proj"};
constexpr std::span<const std::string_view> fused_kernels[] = {attention_inputs, attention_output,
                                                               feed_forward};

constexpr std::string_view gate_and_up[] = {"gate_proj", "up_proj"};

/// The modules of one parent, by their last names.
using Siblings = std::map<std::string_view, const AdaptedModule*>;

/// Paths of the modules with a bias.
std::set<std::string_view> with_bias(const Model& model) {
  constexpr std::string_view ending = ".bias";
  std::set<std::string_view> paths;
  for (const Tensor& t : model.part.tensors)
    if (const std::string_view name = t.name; name.ends_with(ending))
      paths.insert(name.substr(0, name.size() - ending.size()));
  return paths;
}

}  // namespace

std::string input_of(const AdaptedModule& module) {
  const std::string_view path = module.path;
  const std::size_t dot = path.rfind('.');
  const std::string_view name = dot == std::string_view::npos ? path : path.substr(dot + 1);
  for (const std::span<const std::string_view> group :
       {std::span<const std::string_view>(attention_inputs),
        std::span<const std::string_view>(gate_and_up)})
    if (std::ranges::find(group, name) != group.end())
      return std::string(path.substr(0, dot)) + "." + std::string(group.front());
  return module.path;
}

AdapterGroups adapter_groups(const Model& model, const Adapter& adapter) {
  std::map<std::string_view, Siblings> parents;
  for (const AdaptedModule& m : adapter.modules) {
    const std::string_view path = m.path;
    const std::size_t dot = std::min(path.rfind('.'), path.size() - 1);
    parents[path.substr(0, dot)][path.substr(dot + 1)] = &m;
  }
  const std::set<std::string_view> biases = with_bias(model);
  AdapterGroups groups;
  for (auto& [path, siblings] : parents) {
    const auto runs = [&](std::string_view name) {
      const auto found = siblings.find(name);
      return found != siblings.end() && found->second->magnitudes == 0 &&
             found->second->copies == 1 && !biases.contains(found->second->path);
    };
    for (const auto& kernel : fused_kernels) {
      if (!std::ranges::all_of(kernel, runs)) continue;
      auto& group = groups.together.emplace_back();
      for (const std::string_view name : kernel) group.push_back(siblings.extract(name).mapped());
    }
    for (const auto& [name, m] : siblings) groups.apart.push_back(m);
  }
  return groups;
}

}  // namespace headroom::model
