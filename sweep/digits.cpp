// From axes as written to digits: one axis or one link group each, some of them multiplied out.
#include "sweep/digits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "model/checkpoint/text_only.hpp"
#include "model/engine/default_cache.hpp"
#include "sweep/inference_axes.hpp"
#include "sweep/loaded_choice.hpp"
#include "sweep/options/extra_options.hpp"

namespace headroom::sweep {
namespace {

/// Axes that move together.
struct Group {
  std::vector<std::string> axes;
  std::vector<Choice> choices;
  bool has(std::string_view axis) const { return std::ranges::find(axes, axis) != axes.end(); }
};

/// Linked axes together, each other axis alone. Budgets that are not linked are left out: they are
/// each machine's own.
std::vector<Group> groups_of(const Spec& spec, const GridSpec& grid, Names& names) {
  std::vector<Group> groups;
  for (const auto& linked : link_groups(spec, grid, inference_axes(), names)) {
    Group group;
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

std::vector<Group>::iterator with(std::vector<Group>& groups, std::string_view axis) {
  return std::ranges::find_if(groups, [&](const Group& group) { return group.has(axis); });
}
Group& group_with(std::vector<Group>& groups, std::string_view axis) { return *with(groups, axis); }

/// Makes the groups that hold `first` and `second` one, where the latter stood.
Group& merge(std::vector<Group>& groups, std::string_view first, std::string_view second) {
  const auto a = with(groups, first), b = with(groups, second);
  if (a == b) return *a;
  Group all{a->axes, {}};
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

/// Each choice of the machines with each budget that the machine has.
std::vector<Choice> with_budgets(const std::vector<Choice>& machines,
                                 const std::vector<BudgetRange>& ranges) {
  std::vector<Choice> all;
  for (const Choice& choice : machines)
    for (const Bytes budget : budgets(ranges, largest_card(*choice.decides.machine))) {
      all.push_back(choice);
      all.back().decides.gpu_budget = budget;
    }
  return all;
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

}  // namespace

const Machine* Names::machine(const std::string& text) {
  auto& found = machines[text];
  if (!found) {
    job.machines.push_back(std::make_unique<Machine>(parse_machine(text, catalogue)));
    engines.measured(*job.machines.back());
    found = job.machines.back().get();
  }
  return found;
}

const model::QuantisedModel* Names::weights(const model::Model* model,
                                            const model::Scheme* scheme) {
  auto& found = held[{model, scheme}];
  if (!found) {
    job.weights.push_back(
        std::make_unique<model::QuantisedModel>(model::quantise(*model, *scheme)));
    found = job.weights.back().get();
  }
  return found;
}

const ServedExtra* Names::extra(std::string_view axis, const std::string& text) {
  auto& found = extras[fmt::format("{} {}", axis, text)];
  if (!found) {
    job.extras.push_back(std::make_unique<ServedExtra>(parse_extra(axis, text)));
    ServedExtra& made = *job.extras.back();
    if (made.speculation && !made.speculation->model.empty())
      made.proposer = drafts.at(made.speculation->model);
    found = &made;
  }
  return found;
}

const model::QuantisedModel* Names::with(const ServedExtra& asked, const model::Scenario& s) {
  auto& found = adapted[{s.weights, s.runtime, &asked, s.batch}];
  if (!found) {
    job.weights.push_back(std::make_unique<model::QuantisedModel>(
        model::with_adapters(*s.weights, *s.runtime, *asked.adapters, s.batch)));
    found = job.weights.back().get();
  }
  return found;
}

const GivenDraft* Names::draft(const ServedExtra& asked, const model::Scenario& s) {
  auto& found = made_drafts[{s.weights, s.runtime, &asked}];
  if (!found) {
    job.drafts.push_back(make_draft(*asked.speculation, s, asked.proposer));
    found = job.drafts.back().get();
  }
  return found;
}

const model::Model* Names::without_towers(const model::Model* model, const model::Engine& engine) {
  check_text_only(*model, engine);
  auto& found = text_only[model];
  if (!found) {
    job.text_models.push_back(std::make_unique<model::Model>(model::without_towers(*model)));
    found = job.text_models.back().get();
  }
  return found;
}

void overlay(Choice& choice, const Choice& over) {
  for (std::size_t c = 0; c < over.extras.size(); ++c)
    if (over.extras[c]) choice.extras[c] = over.extras[c];
  choice.image_tokens += over.image_tokens;
  if (over.decides.draft) choice.decides.draft = over.decides.draft;
  if (over.decides.images.count > 0) choice.decides.images = over.decides.images;
  if (over.model) choice.model = over.model;
  if (over.scheme) choice.scheme = over.scheme;
  model::Scenario& s = choice.decides;
  const model::Scenario& o = over.decides;
  if (o.weights) s.weights = o.weights;
  if (o.kv_precision) s.kv_precision = o.kv_precision;
  if (o.runtime) s.runtime = o.runtime;
  if (o.machine) s.machine = o.machine;
  for (const auto* axis : number_axes())
    if (o.*axis->number > 0) s.*axis->number = o.*axis->number;
  if (o.gpu_budget >= Bytes(0)) s.gpu_budget = o.gpu_budget;
}

namespace {

/// Effect of extras on the chosen model and engine.
void apply_extras(Choice& choice, Names& names) {
  model::Scenario& s = choice.decides;
  for (const ServedExtra* each : choice.extras)
    if (each && each->text_only) {
      choice.model = names.without_towers(choice.model, *s.runtime);
      s.weights = names.weights(choice.model, s.weights->scheme);
    }
  for (const ServedExtra* each : choice.extras) {
    if (!each) continue;
    if (each->adapters && s.weights->refusal.empty()) s.weights = names.with(*each, s);
    if (each->speculation && s.weights->refusal.empty()) {
      const GivenDraft* made = names.draft(*each, s);
      s.draft = &made->draft;
      if (made->engine) s.runtime = made->engine.get();
    }
    if (each->images > 0) {
      const model::ImageInput input = image_of(*choice.model, *each);
      s.images = {each->images, input.patches, choice.model->images.hidden};
      choice.image_tokens = each->images * input.tokens;
    }
  }
}

/// Extras go into the digit of the models, with whatever decides what they come to.
void add_extras(const Spec& spec, const GridSpec& grid, std::vector<Group>& groups, Names& names) {
  for (const ExtraAxis& axis : extra_axes) {
    if (grid.values(axis.key).empty()) continue;
    merge(groups, axis.key, "models");
    if (axis.key != "images") merge(groups, "runtimes", "models");
    if (axis.key == "adapters")
      merge(groups, grid.values("concurrencies").empty() ? "batches" : "concurrencies", "models");
  }
  for (Choice& choice : group_with(groups, "models").choices) try {
      apply_extras(choice, names);
    } catch (const std::invalid_argument& e) {
      const model::Scenario& s = choice.decides;
      const auto axis = std::ranges::find_if(
          extra_axes, [&](const ExtraAxis& each) { return !grid.values(each.key).empty(); });
      throw spec.error(
          grid, axis->key,
          fmt::format("{}{}: {}; link the axes to combine only matching values", choice.model->name,
                      s.runtime ? fmt::format(" on {}", s.runtime->name) : "", e.what()));
    }
}

/// Models with their precisions. Engines share the digit of the models if they load the weights of
/// one choice differently, and so do machines.
void hold_weights(std::vector<Group>& groups, Names& names) {
  merge(groups, "models", "precisions");
  for (const auto& [by, axis] :
       {std::pair{LoadedBy::engine, "runtimes"}, std::pair{LoadedBy::machine, "machines"}})
    if (load_differently(group_with(groups, "models").choices,
                         group_with(groups, "runtimes").choices,
                         group_with(groups, "machines").choices, by))
      merge(groups, axis, "models");
  const Choice engine = group_with(groups, "runtimes").choices.front();
  const Choice machine = group_with(groups, "machines").choices.front();
  for (Choice& choice : group_with(groups, "models").choices)
    choice.decides.weights =
        names.weights(choice.model, &scheme_of_choice(choice, engine, machine));
}

/// The format that "auto" is for each model and engine. If they differ, the KV precisions share
/// the digit of the models, and of the engines.
void set_caches(std::vector<Group>& groups) {
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
  Group& caches = group_with(groups, "kv_precisions");
  for (Choice& choice : caches.choices)
    if (is_auto(choice)) choice.decides.kv_precision = same ? first : taken(choice, engine);
  caches.choices = distinct(caches.choices);
}

}  // namespace

std::vector<std::vector<Choice>> digits_of(const Spec& spec, const GridSpec& grid, Names& names) {
  auto groups = groups_of(spec, grid, names);
  hold_weights(groups, names);
  set_caches(groups);
  add_extras(spec, grid, groups, names);
  if (grid.link_of("gpu_budgets")) {
    for (Choice& choice : merge(groups, "gpu_budgets", "machines").choices)
      choice.decides.gpu_budget =
          std::min(choice.decides.gpu_budget, largest_card(*choice.decides.machine));
  } else if (!grid.values("gpu_budgets").empty()) {
    Group& machines = group_with(groups, "machines");
    try {
      machines.choices = with_budgets(machines.choices, grid.gpu_budgets());
    } catch (const std::invalid_argument& e) {
      throw spec.error(grid, "gpu_budgets", e.what());
    }
  }
  std::vector<std::vector<Choice>> digits;
  for (const Group& group : groups)
    digits.push_back(group.axes.size() == 1 ? group.choices : distinct(group.choices));
  return digits;
}

}  // namespace headroom::sweep
