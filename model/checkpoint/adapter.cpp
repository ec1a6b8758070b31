#include "model/checkpoint/adapter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "model/checkpoint/adapter_rows.hpp"

namespace headroom::model {
namespace {

using adapter_rows::Renamed;

constexpr std::string_view all_linear = "all-linear";

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('.') + 1); }

/// True if `path` is `target`, or ends in it after a dot.
bool is_or_ends_in(std::string_view path, std::string_view target) {
  if (!path.ends_with(target)) return false;
  return path.size() == target.size() || path[path.size() - target.size() - 1] == '.';
}

bool is_pattern(std::string_view target) {
  return target.find_first_of("*+?()[]|^$\\") != std::string_view::npos;
}

/// A module with its own weight.
struct Owner {
  const Module* module;
  const Tensor* weight;
};

using OwnerByPath = std::unordered_map<std::string_view, Owner>;

/// Modules by path that own a tensor called "weight". A shared module (T5's three embeddings)
/// counts once, as in named_modules. A tied head counts as a separate module.
OwnerByPath owners(const Part& part) {
  OwnerByPath all;
  all.reserve(part.modules.size());
  for (const Tensor& tensor : part.tensors)
    if (last_name(tensor.name) == "weight" && tensor.is_parameter() &&
        (tensor.tied_to.empty() || tensor.role != Role::embedding))
      all[tensor.module()] = {nullptr, &tensor};
  for (const Module& module : part.modules)
    if (const auto found = all.find(module.path); found != all.end())
      found->second.module = &module;
  std::erase_if(all, [](const auto& each) { return each.second.module == nullptr; });
  return all;
}

/// Paths of the modules whose owners `keep` accepts, sorted.
template <class Keep>
std::vector<std::string_view> paths_of(const OwnerByPath& modules, Keep keep) {
  std::vector<std::string_view> paths;
  for (const auto& [path, owner] : modules)
    if (keep(owner)) paths.push_back(path);
  std::ranges::sort(paths);
  return paths;
}

/// The factors of a module, by its kind of layer. Throws if PEFT has none for it.
AdaptedModule adapted_module(const Owner& owner, const AdapterRequest& request) {
  const Shape& s = owner.weight->shape;
  AdaptedModule m{.path = owner.module->path, .tensor = owner.weight->name, .rank = request.rank};
  const std::string_view class_name = owner.module->class_name;
  if (class_name == "Conv1D" && s.size() == 2) {
    m.in = s[0], m.out = s[1];
  } else if (owner.weight->role == Role::embedding && s.size() == 2) {
    m.in = s[0], m.out = s[1];
  } else if (adapter_rows::is_linear(class_name) && s.size() == 2) {
    m.in = s[1], m.out = s[0];
  } else if (owner.weight->role == Role::conv && s.size() >= 3 && s[1] > 1) {
    m.out = s[0], m.in = owner.weight->elements() / s[0];
  } else {
    throw AdapterError(
        fmt::format("'{}' is a {}, which cannot have low-rank adapters; linear layers, Conv1D, "
                    "convolutions of one group and embeddings can",
                    m.path, class_name));
  }
  if (request.magnitudes) m.magnitudes = m.out;
  return m;
}

/// Factors of a tensor without a linear layer: all experts in one tensor.
AdaptedModule around(const Tensor& tensor, Size rank) {
  const Shape& s = tensor.shape;
  AdaptedModule m{.path = std::string(tensor.module()), .tensor = tensor.name, .rank = rank};
  if (s.size() == 3)
    m.copies = s[0], m.in = s[2], m.out = s[1];
  else if (s.size() == 2)
    m.in = s[1], m.out = s[0];
  else
    throw AdapterError(
        fmt::format("'{}' has {} dimensions; adapters need 2 or 3", tensor.name, s.size()));
  return m;
}

/// Last names of all linear layers except the head, as PEFT finds them for "all-linear".
std::set<std::string> linear_paths(const OwnerByPath& modules) {
  const auto is_adapted = [](const Owner& owner) {
    const std::string& class_name = owner.module->class_name;
    return (adapter_rows::is_linear(class_name) || class_name == "Conv1D") &&
           owner.weight->role != Role::head && owner.weight->shape.size() == 2;
  };
  const auto paths = paths_of(modules, is_adapted);
  return {paths.begin(), paths.end()};  // sorted, so each is put behind the last
}

struct Targets {
  std::set<std::string> modules;
  std::map<std::string, Size> tensors;  ///< name or ending → rank
};

/// Replaces old names of experts and routers by the tensors that now contain them.
Targets renamed(const std::set<std::string>& names, std::span<const Renamed> rows, Size rank) {
  Targets targets;
  std::map<std::string_view, std::set<std::string_view>> found;  ///< tensor → old names
  for (const std::string& name : names) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Renamed& r) {
      return is_or_ends_in(name, r.old_name);
    });
    if (row == rows.end())
      targets.modules.insert(name);
    else
      found[row->tensor].insert(row->old_name);
  }
  for (const auto& [tensor, old_names] : found) {
    std::vector<std::string_view> needed;
    for (const Renamed& row : rows)
      if (row.tensor == tensor) needed.push_back(row.old_name);
    if (old_names.size() != needed.size())
      throw AdapterError(fmt::format(
          "target {} alone cannot be adapted: {} lie in one tensor, {}; name all of them",
          fmt::join(old_names, ", "), fmt::join(needed, " and "), tensor));
    targets.tensors[std::string(tensor)] = rank * static_cast<Size>(needed.size());
  }
  return targets;
}

/// Resolves the request for this model before any lookup.
Targets resolve(const Model& model, const AdapterRequest& request, const OwnerByPath& modules) {
  const auto rows = adapter_rows::renamed_targets(model.model_type);
  std::vector<std::string> asked = request.targets;
  if (asked.empty() && rows.empty()) asked = default_targets(model.model_type);
  if (asked.empty())
    throw AdapterError(fmt::format(
        "{} models ({}) have no default targets: give names, or all-linear; linear layers here are "
        "{}",
        model.model_type, model.architecture,
        fmt::join(
            [&] {
              std::set<std::string> names;
              for (const auto& path : linear_paths(modules)) names.emplace(last_name(path));
              return names;
            }(),
            ", ")));
  std::set<std::string> names(asked.begin(), asked.end());
  if (asked.size() == 1 && lower(asked.front()) == all_linear) {
    names = linear_paths(modules);
    if (!rows.empty()) {
      std::set<std::string> last;
      for (const auto& path : names) last.emplace(last_name(path));
      for (const Renamed& row : rows) last.emplace(row.old_name);
      names = std::move(last);
    }
  } else if (asked.size() == 1 && is_pattern(asked.front())) {
    std::regex pattern;
    try {
      pattern = std::regex(asked.front());
    } catch (const std::regex_error&) {
      throw AdapterError(
          fmt::format("target '{}' is not a regular expression that can be read", asked.front()));
    }
    names.clear();
    for (const Module& module : model.part.modules)
      if (std::regex_match(module.path, pattern)) names.insert(module.path);
  }
  if (rows.empty()) return {std::move(names), {}};
  return renamed(names, rows, request.rank);
}

}  // namespace

Size Adapter::parameters() const {
  Size sum = 0;
  for (const auto& m : modules) sum += m.parameters();
  return sum;
}
Size Adapter::magnitudes() const {
  Size sum = 0;
  for (const auto& m : modules) sum += m.magnitudes;
  return sum;
}

std::vector<std::string> Adapter::all_targets() const {
  std::set<std::string> names;
  for (const auto& target : targets) names.emplace(last_name(target));
  names.insert(parameters_targeted.begin(), parameters_targeted.end());
  return {names.begin(), names.end()};
}

Adapter adapt(const Model& model, const AdapterRequest& request) {
  const auto modules = owners(model.part);
  const Targets targets = resolve(model, request, modules);
  // all-linear lists thousands of paths.
  const std::unordered_set<std::string_view> named(targets.modules.begin(), targets.modules.end());
  const auto matches = [&](std::string_view path) {
    if (named.contains(path)) return true;
    for (auto at = path.find('.'); at != std::string_view::npos; at = path.find('.', at + 1))
      if (named.contains(path.substr(at + 1))) return true;
    return false;
  };
  Adapter adapter;
  for (const Module& module : model.part.modules) {
    if (module.path.empty() || !matches(module.path)) continue;
    if (adapter_rows::never_adapted(model.model_type, last_name(module.path)))
      throw AdapterError(fmt::format(
          "'{}' cannot be adapted in {} models: its kernel reads the weight directly; leave "
          "out_proj and conv1d out of the targets",
          module.path, model.model_type));
    const auto owner = modules.find(module.path);
    if (owner == modules.end()) {
      const bool shared = std::any_of(
          model.part.tensors.begin(), model.part.tensors.end(),
          [&](const Tensor& t) { return t.module() == module.path && !t.tied_to.empty(); });
      if (shared) continue;
      throw AdapterError(fmt::format(
          "'{}' is a {}, which cannot have low-rank adapters; name linear layers inside it",
          module.path, module.class_name));
    }
    adapter.modules.push_back(adapted_module(owner->second, request));
  }
  for (const Tensor& tensor : model.part.tensors) {
    if (!tensor.is_parameter()) continue;
    for (const auto& [name, rank] : targets.tensors)
      if (is_or_ends_in(tensor.name, name)) adapter.modules.push_back(around(tensor, rank));
  }
  if (request.magnitudes && !targets.tensors.empty())
    throw AdapterError(
        "DoRA has no form for stacked experts and routers; leave them out of the "
        "targets, or use LoRA");
  if (adapter.modules.empty()) {
    std::vector<std::string> known;
    for (const std::string_view path : paths_of(modules, [](const Owner&) { return true; }))
      if (std::string name(last_name(path));
          std::find(known.begin(), known.end(), name) == known.end())
        known.push_back(std::move(name));
    const std::string asked = request.targets.empty()
                                  ? std::string("(none)")
                                  : fmt::format("{}", fmt::join(request.targets, " "));
    throw AdapterError(fmt::format("no module of {} is called '{}'; nearest: {}", model.name, asked,
                                   fmt::join(nearest(asked, known), ", ")));
  }
  adapter.targets.assign(targets.modules.begin(), targets.modules.end());
  for (const auto& [name, rank] : targets.tensors) adapter.parameters_targeted.push_back(name);
  return adapter;
}

std::vector<std::string> default_targets(std::string_view model_type) {
  const auto names = words(adapter_rows::default_target_names(model_type));
  return {names.begin(), names.end()};
}

}  // namespace headroom::model
