#include "sweep/grid/digit_groups.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <tuple>
#include <utility>

#include "model/engine/default_cache.hpp"
#include "model/infer/scenario/usual_context.hpp"
#include "sweep/grid/inference_axes.hpp"
#include "sweep/grid/usual_ways.hpp"

namespace headroom::sweep {

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
    std::vector<std::intptr_t> key = {pointer(c.model),
                                      pointer(s.weights),
                                      pointer(s.kv_precision.keys),
                                      pointer(s.kv_precision.values),
                                      pointer(s.runtime),
                                      pointer(s.machine),
                                      s.gpu_budget.count()};
    for (const auto* axis : number_axes()) key.push_back(s.*axis->number);
    for (const ServedExtra* extra : c.extras) key.push_back(pointer(extra));
    if (seen.insert(std::move(key)).second) all.push_back(c);
  }
  return all;
}

void set_caches(DigitGroups& groups) {
  const auto is_auto = [](const Choice& c) { return !c.decides.kv_precision.is_complete(); };
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
  for (const Choice& choice : models) {
    const Precision* usual = taken(choice, engines.front());
    same = same && usual == first;
    if (choice.decides.runtime) continue;  // linked: no other engine has this model
    for (const Choice& other : engines) by_engine = by_engine || taken(choice, other) != usual;
  }
  same = same && !by_engine;
  if (!same) merge(groups, "kv_precisions", "models");
  if (by_engine) merge(groups, "runtimes", "models");
  const Choice& engine = group_with(groups, "runtimes").choices.front();
  DigitGroup& caches = group_with(groups, "kv_precisions");
  for (Choice& choice : caches.choices)
    if (is_auto(choice))
      choice.decides.kv_precision =
          choice.decides.kv_precision.completed(*(same ? first : taken(choice, engine)));
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

/// The first choice for each value of `key`.
template <class Key>
std::vector<Choice> first_by(const std::vector<Choice>& choices, Key key) {
  std::vector<Choice> found;
  std::set<decltype(key(choices.front()))> seen;
  for (const Choice& choice : choices)
    if (seen.insert(key(choice)).second) found.push_back(choice);
  return found;
}

bool names_any(const GridSpec& grid, std::initializer_list<const char*> keys) {
  return std::ranges::any_of(keys, [&](const char* key) { return grid.lines.contains(key); });
}

bool says_context(const GridSpec& grid) {
  return names_any(grid, {"contexts", "prompt_tokens_p95", "output_tokens_p95"});
}

}  // namespace

bool has_least_context(const GridSpec& grid) {
  return !says_context(grid) && names_any(grid, {"prompt_tokens", "output_tokens"});
}

void set_contexts(const GridSpec& grid, DigitGroups& groups) {
  if (says_context(grid) || has_least_context(grid)) return;
  const auto* batches = grid.values("concurrencies").empty() ? "batches" : "concurrencies";
  // Groups may hold other axes too, which change no context.
  const auto models = first_by(group_with(groups, "models").choices, [](const Choice& c) {
    return std::pair(c.decides.weights->model, c.image_tokens);
  });
  const auto sizes = first_by(group_with(groups, batches).choices, [](const Choice& c) {
    return std::tuple(c.decides.batch, c.decides.runtime, c.image_tokens);
  });
  const auto engines = first_by(group_with(groups, "runtimes").choices,
                                [](const Choice& c) { return c.decides.runtime; });
  bool by_model = false, by_engine = false;
  for (const Choice& batch : sizes)
    for (const Choice& model : models) {
      const Size context = usual_context_of(groups, model, batch);
      by_model = by_model || context != usual_context_of(groups, models.front(), batch);
      for (const Choice& engine : engines) {
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
