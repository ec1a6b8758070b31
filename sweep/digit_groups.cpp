#include "sweep/digit_groups.hpp"

#include <cstdint>
#include <set>
#include <tuple>

#include "model/engine/default_cache.hpp"
#include "model/infer/scenario/usual_context.hpp"
#include "sweep/inference_axes.hpp"
#include "sweep/options/extra_options.hpp"
#include "sweep/ways.hpp"

namespace headroom::sweep {

namespace {

/// The grid with the ways that estimate compares, where its spec names neither engine nor
/// precision. Only some engines hold what is served beside a model, so such grids stay as they are.
GridSpec with_usual_ways(const GridSpec& grid, Names& names) {
  GridSpec all = grid;
  if (grid.lines.contains("runtimes") || grid.lines.contains("precisions")) return all;
  for (const ExtraAxis& extra : extra_axes)
    if (!grid.values(extra.key).empty()) return all;
  std::set<const model::Engine*> comparable;
  try {
    for (const std::string& model : grid.values("models"))
      for (const std::string& machine : grid.values("machines"))
        for (const auto* engine :
             comparable_engines(names.engines, *names.models.at(model), *names.machine(machine)))
          comparable.insert(engine);
  } catch (const std::exception&) {
    return all;  // link_groups() says which line has the wrong name
  }
  all.all_values["runtimes"].clear();
  all.all_values["precisions"].clear();
  for (const model::Engine& engine : names.engines.all())
    if (comparable.contains(&engine))
      for (const std::string_view precision : engine.usual_precisions) {
        all.all_values["runtimes"].emplace_back(engine.name);
        all.all_values["precisions"].emplace_back(precision);
      }
  all.link.push_back({"precisions", "runtimes"});
  return all;
}

}  // namespace

DigitGroups digit_groups(const Spec& spec, const GridSpec& given, Names& names) {
  DigitGroups groups;
  const GridSpec grid = with_usual_ways(given, names);
  for (const auto& linked : link_groups(spec, grid, inference_axes(), names)) {
    DigitGroup group;
    for (const auto* axis : linked.axes) group.axes.emplace_back(axis->form.key);
    if (group.axes == std::vector<std::string>{"gpu_budgets"}) continue;
    for (const auto& changes : linked.values) {
      Choice& choice = group.choices.emplace_back();
      for (const auto& change : changes) change(choice);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

namespace {

DigitGroups::iterator with(DigitGroups& groups, std::string_view axis) {
  return std::ranges::find_if(groups, [&](const DigitGroup& group) { return group.has(axis); });
}
}  // namespace

DigitGroup& group_with(DigitGroups& groups, std::string_view axis) { return *with(groups, axis); }

DigitGroup& merge(DigitGroups& groups, std::string_view first, std::string_view second) {
  const auto a = with(groups, first), b = with(groups, second);
  if (a == b) return *a;
  DigitGroup all{a->axes, {}};
  all.axes.insert(all.axes.end(), b->axes.begin(), b->axes.end());
  for (const Choice& slow : a->choices)
    for (const Choice& fast : b->choices) {
      all.choices.push_back(slow);
      overlay(all.choices.back(), fast);
    }
  *b = std::move(all);
  groups.erase(a);
  return group_with(groups, first);
}

std::vector<Choice> distinct(const std::vector<Choice>& choices) {
  std::vector<Choice> all;
  std::set<std::vector<std::intptr_t>> seen;
  for (const Choice& c : choices) {
    const model::Scenario& s = c.decides;
    const auto pointer = [](const void* p) { return reinterpret_cast<std::intptr_t>(p); };
    std::vector<std::intptr_t> key = {pointer(c.model),        pointer(s.weights),
                                      pointer(s.kv_precision), pointer(s.runtime),
                                      pointer(s.machine),      s.gpu_budget.count()};
    for (const auto* axis : number_axes()) key.push_back(s.*axis->number);
    for (const ServedExtra* extra : c.extras) key.push_back(pointer(extra));
    if (seen.insert(std::move(key)).second) all.push_back(c);
  }
  return all;
}

void set_caches(DigitGroups& groups) {
  const auto is_auto = [](const Choice& c) { return c.decides.kv_precision == nullptr; };
  if (std::ranges::none_of(group_with(groups, "kv_precisions").choices, is_auto)) return;
  const auto taken = [&](const Choice& choice, const Choice& other) {
    const model::Engine* engine =
        choice.decides.runtime ? choice.decides.runtime : other.decides.runtime;
    return &model::default_cache(*choice.decides.weights, *engine);
  };
  const auto& engines = group_with(groups, "runtimes").choices;
  const auto& models = group_with(groups, "models").choices;
  const Precision* first = taken(models.front(), engines.front());
  bool same = true, by_engine = false;
  for (const Choice& choice : models)
    for (const Choice& other : engines) {
      same = same && taken(choice, other) == first;
      by_engine = by_engine || taken(choice, other) != taken(choice, engines.front());
    }
  if (!same) merge(groups, "kv_precisions", "models");
  if (by_engine) merge(groups, "runtimes", "models");
  const Choice& engine = group_with(groups, "runtimes").choices.front();
  DigitGroup& caches = group_with(groups, "kv_precisions");
  for (Choice& choice : caches.choices)
    if (is_auto(choice)) choice.decides.kv_precision = same ? first : taken(choice, engine);
  caches.choices = distinct(caches.choices);
}

namespace {

/// Context of the point that these choices make.
Size usual_context_of(const DigitGroups& groups, const Choice& model, const Choice& batch) {
  Choice all;
  for (const DigitGroup& group : groups)
    if (group.has("prompt_tokens") || group.has("output_tokens") || group.has("runtimes"))
      overlay(all, group.choices.front());
  overlay(all, batch);
  overlay(all, model);
  model::Scenario& s = all.decides;
  s.prompt_tokens += all.image_tokens;
  return model::usual_context(s, *s.weights->model);
}

/// One choice for each model and size of its images.
std::vector<Choice> distinct_models(const std::vector<Choice>& models) {
  std::vector<Choice> found;
  std::set<std::pair<const model::Model*, Size>> seen;
  for (const Choice& choice : models)
    if (seen.emplace(choice.decides.weights->model, choice.image_tokens).second)
      found.push_back(choice);
  return found;
}

}  // namespace

void set_contexts(const GridSpec& grid, DigitGroups& groups) {
  for (const auto* key :
       {"prompt_tokens", "output_tokens", "contexts", "prompt_tokens_p95", "output_tokens_p95"})
    if (grid.lines.contains(key)) return;
  const auto* batches = grid.values("concurrencies").empty() ? "batches" : "concurrencies";
  const auto models = distinct_models(group_with(groups, "models").choices);
  bool by_model = false, by_engine = false;
  for (const Choice& batch : group_with(groups, batches).choices)
    for (const Choice& model : models) {
      const Size context = usual_context_of(groups, model, batch);
      by_model = by_model || context != usual_context_of(groups, models.front(), batch);
      for (const Choice& engine : group_with(groups, "runtimes").choices) {
        Choice other = model;
        other.decides.runtime = engine.decides.runtime;
        by_engine = by_engine || context != usual_context_of(groups, other, batch);
      }
    }
  if (by_engine) merge(groups, "runtimes", "models");
  if (by_model || by_engine) merge(groups, batches, "models");
  const Choice model = group_with(groups, "models").choices.front();
  for (Choice& choice : group_with(groups, batches).choices)
    choice.decides.context =
        usual_context_of(groups, choice.decides.weights ? choice : model, choice);
}

}  // namespace headroom::sweep
