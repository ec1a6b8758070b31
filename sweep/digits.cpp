// From axes as written to digits: one axis or one link group each, some of them multiplied out.
#include "sweep/digits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

namespace headroom::sweep {
namespace {

/// Axes that move together.
struct Group {
  std::vector<std::string> axes;
  std::vector<Choice> choices;
  bool has(std::string_view axis) const { return std::ranges::find(axes, axis) != axes.end(); }
};

/// Value `i` of `axis` into `choice`.
void set(Choice& choice, std::string_view axis, const GridSpec& grid, std::size_t i, Names& names) {
  if (axis == "models") choice.model = names.models.at(grid.models[i]);
  if (axis == "precisions" && grid.precisions[i] != "auto")
    choice.scheme = &model::scheme(grid.precisions[i]);
  if (axis == "kv_precisions") choice.kv_precision = &precision(grid.kv_precisions[i]);
  if (axis == "batches") choice.batch = grid.batches[i];
  if (axis == "prompt_tokens") choice.prompt_tokens = grid.prompt_tokens[i];
  if (axis == "output_tokens") choice.output_tokens = grid.output_tokens[i];
  if (axis == "contexts") choice.context = grid.contexts[i];
  if (axis == "runtimes") choice.runtime = &model::runtime(grid.runtimes[i]);
  if (axis == "machines") choice.machine = names.machine(grid.machines[i]);
  if (axis == "gpu_budgets") choice.gpu_budget = grid.gpu_budgets[i].first;
}

/// Linked axes together, each other axis alone; in the order of inference_axes().
std::vector<Group> groups_of(const Spec& spec, const GridSpec& grid, Names& names) {
  std::vector<Group> groups;
  std::set<std::string> placed;
  for (const auto& axis : inference_axes()) {
    if (placed.contains(axis)) continue;
    const auto link = std::ranges::find_if(
        grid.link, [&](const auto& axes) { return std::ranges::find(axes, axis) != axes.end(); });
    const bool alone = link == grid.link.end();
    if (alone && axis == "gpu_budgets") continue;  // each machine's own, see below
    Group group{alone ? std::vector<std::string>{axis} : *link, {}};
    group.choices.resize(grid.length(axis));
    for (const auto& member : group.axes) {
      placed.insert(member);
      try {
        for (std::size_t i = 0; i < group.choices.size(); ++i)
          set(group.choices[i], member, grid, i, names);
      } catch (const std::exception& e) {
        throw spec.error(grid, member, e.what());
      }
    }
    if (!group.choices.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

/// Makes the groups that hold `first` and `second` one, where the latter stood.
Group& merge(std::vector<Group>& groups, std::string_view first, std::string_view second) {
  const auto with = [&](std::string_view axis) {
    return std::ranges::find_if(groups, [&](const Group& group) { return group.has(axis); });
  };
  auto a = with(first), b = with(second);
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
  return *with(first);
}

Bytes largest_card(const Machine& machine) {
  Bytes most;
  for (const Device& device : machine.devices) most = std::max(most, device.memory);
  return most;
}

/// Each choice of the machines with each budget that the machine has.
std::vector<Choice> with_budgets(const std::vector<Choice>& machines,
                                 const std::vector<BudgetRange>& ranges) {
  std::vector<Choice> all;
  for (const Choice& choice : machines)
    for (const Bytes budget : budgets(ranges, largest_card(*choice.machine))) {
      all.push_back(choice);
      all.back().gpu_budget = budget;
    }
  return all;
}

std::vector<Choice> distinct(const std::vector<Choice>& choices) {
  std::vector<Choice> all;
  std::set<std::array<std::intptr_t, 10>> seen;
  for (const Choice& c : choices) {
    const auto pointer = [](const void* p) { return reinterpret_cast<std::intptr_t>(p); };
    if (seen.insert({pointer(c.model), pointer(c.weights), pointer(c.kv_precision),
                     pointer(c.runtime), pointer(c.machine), c.batch, c.prompt_tokens,
                     c.output_tokens, c.context, c.gpu_budget.count()})
            .second)
      all.push_back(c);
  }
  return all;
}

}  // namespace

const Machine* Names::machine(const std::string& text) {
  auto& found = machines[text];
  if (!found) {
    job.machines.push_back(std::make_unique<Machine>(parse_machine(text, catalogue)));
    found = job.machines.back().get();
  }
  return found;
}

const model::Weights* Names::weights(const model::Model* model, const model::Scheme* scheme) {
  if (!scheme) scheme = &model::scheme(model->checkpoint_scheme);
  auto& found = held[{model, scheme}];
  if (!found) {
    job.weights.push_back(std::make_unique<model::Weights>(model::hold(*model, *scheme)));
    found = job.weights.back().get();
  }
  return found;
}

void overlay(Choice& choice, const Choice& over) {
  if (over.model) choice.model = over.model;
  if (over.scheme) choice.scheme = over.scheme;
  if (over.weights) choice.weights = over.weights;
  if (over.kv_precision) choice.kv_precision = over.kv_precision;
  if (over.runtime) choice.runtime = over.runtime;
  if (over.machine) choice.machine = over.machine;
  if (over.batch > 0) choice.batch = over.batch;
  if (over.prompt_tokens > 0) choice.prompt_tokens = over.prompt_tokens;
  if (over.output_tokens > 0) choice.output_tokens = over.output_tokens;
  if (over.context > 0) choice.context = over.context;
  if (over.gpu_budget >= Bytes(0)) choice.gpu_budget = over.gpu_budget;
}

std::vector<std::vector<Choice>> digits_of(const Spec& spec, const GridSpec& grid, Names& names) {
  auto groups = groups_of(spec, grid, names);
  for (Choice& choice : merge(groups, "models", "precisions").choices)
    choice.weights = names.weights(choice.model, choice.scheme);
  const bool budget_linked = std::ranges::any_of(grid.link, [](const auto& axes) {
    return std::ranges::find(axes, "gpu_budgets") != axes.end();
  });
  if (budget_linked) {
    for (Choice& choice : merge(groups, "gpu_budgets", "machines").choices)
      choice.gpu_budget = std::min(choice.gpu_budget, largest_card(*choice.machine));
  } else if (!grid.gpu_budgets.empty()) {
    auto& machines =
        *std::ranges::find_if(groups, [](const Group& g) { return g.has("machines"); });
    try {
      machines.choices = with_budgets(machines.choices, grid.gpu_budgets);
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
