// From axes as written to digits: one axis or one link group each, some of them multiplied out.
#include "sweep/grid/digits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hardware/quantity_text.hpp"
#include "model/engine/runs_on.hpp"
#include "sweep/grid/digit_groups.hpp"
#include "sweep/grid/inference_axes.hpp"
#include "sweep/options/extra_options.hpp"
#include "sweep/spec/loaded_choice.hpp"

namespace headroom::sweep {
namespace {

/// Each choice of the machines with each budget that the machine has.
std::vector<Choice> with_budgets(const std::vector<Choice>& machines,
                                 const std::vector<BudgetRange>& ranges) {
  std::vector<Choice> all;
  for (const Choice& choice : machines)
    for (const CardBudget& budget : budgets(ranges, largest_card(*choice.decides.machine))) {
      all.push_back(choice);
      all.back().budget = budget.asked;
      all.back().decides.gpu_budget = budget.bytes;
    }
  return all;
}

/// Names the machines whose cards have less memory than the largest size that was asked for.
/// Budget::of() cuts such sizes, and equal budgets are one.
void note_cut_budgets(const std::vector<Choice>& machines, const std::vector<BudgetRange>& ranges,
                      Job& job) {
  Bytes most;
  for (const BudgetRange& range : ranges)
    if (range.last.kind == Budget::Kind::size) most = std::max(most, range.last.bytes);
  std::set<std::string> smaller;
  for (const Choice& choice : machines)
    if (const Bytes memory = largest_card(*choice.decides.machine); memory < most)
      smaller.insert(fmt::format("{} ({})", choice.decides.machine->name, to_text(memory)));
  if (smaller.empty()) return;
  constexpr std::size_t shown = 3;
  const std::size_t named = std::min(shown, smaller.size());
  job.notes.push_back(fmt::format(
      "gpu_budgets go up to {}: sizes beyond a card's memory are the budget max on {}{}",
      to_text(most),
      fmt::join(smaller.begin(), std::next(smaller.begin(), static_cast<std::ptrdiff_t>(named)),
                ", "),
      smaller.size() > named
          ? fmt::format(" and {} more",
                        counted(static_cast<Size>(smaller.size() - named), "machine"))
          : std::string()));
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
  hold({{model, scheme}});
  return held.at({model, scheme});
}

void Names::hold(const std::vector<InScheme>& asked) {
  std::vector<InScheme> wanted;
  for (const InScheme& each : asked)
    if (held.try_emplace(each).second) wanted.push_back(each);
  const std::size_t first = job.weights.size();
  job.weights.resize(first + wanted.size());
  tbb::parallel_for(std::size_t{0}, wanted.size(), [&](std::size_t i) {
    const auto& [model, scheme] = wanted[i];
    job.weights[first + i] =
        std::make_unique<model::QuantisedModel>(model::quantise(*model, *scheme));
  });
  for (std::size_t i = 0; i < wanted.size(); ++i) held[wanted[i]] = job.weights[first + i].get();
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
  // A pass reads at most one adapter for each sequence, so larger batches have equal weights.
  const Size reading = std::min(s.batch, asked.adapters->count);
  auto& found = adapted[{s.weights, s.runtime, &asked, reading}];
  if (!found) {
    job.weights.push_back(std::make_unique<model::QuantisedModel>(
        model::with_adapters(*s.weights, *s.runtime, *asked.adapters, reading)));
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

const model::Model* Names::in_form(const model::Model* model, model::LoadedForm form) {
  if (form == model::LoadedForm{}) return model;
  auto& found = in_forms[{model, form}];
  if (!found) {
    job.loaded_models.push_back(std::make_unique<model::Model>(model::in_form(*model, form)));
    found = job.loaded_models.back().get();
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
  if (o.weights) {
    s.weights = o.weights;
    choice.as_published = over.as_published;
  }
  if (o.kv_precision != model::CachePrecision()) s.kv_precision = o.kv_precision;
  if (o.runtime) s.runtime = o.runtime;
  if (o.machine) s.machine = o.machine;
  for (const auto* axis : number_axes())
    if (o.*axis->number > 0) s.*axis->number = o.*axis->number;
  if (over.budget) choice.budget = over.budget;
  if (o.gpu_budget >= Bytes(0)) s.gpu_budget = o.gpu_budget;
}

namespace {

/// Effect of extras on the chosen model and engine.
void apply_extras(Choice& choice, Names& names) {
  model::Scenario& s = choice.decides;
  for (const ServedExtra* each : choice.extras)
    if (each && each->text_only) {
      check_text_only(*choice.model, *s.runtime);
      choice.model = names.in_form(choice.model, {.without_towers = true});
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
      const model::ImageInput input =
          image_of(*choice.model, *each, model::image_limits(*s.runtime));
      s.images = {each->images, input.patches, choice.model->images.hidden};
      choice.image_tokens = each->images * input.tokens;
    }
  }
}

/// Extras go into the digit of the models, with whatever decides what they come to.
void add_extras(const Spec& spec, const GridSpec& grid, DigitGroups& groups, Names& names) {
  for (const ExtraAxis& axis : extra_axes) {
    if (grid.values(axis.key).empty()) continue;
    merge(groups, axis.key, "models");
    merge(groups, "runtimes", "models");
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
void hold_weights(DigitGroups& groups, Names& names) {
  merge(groups, "models", "precisions");
  for (const auto& [by, axis] :
       {std::pair{LoadedBy::engine, "runtimes"}, std::pair{LoadedBy::machine, "machines"}})
    if (load_differently(group_with(groups, "models").choices,
                         group_with(groups, "runtimes").choices,
                         group_with(groups, "machines").choices, by))
      merge(groups, axis, "models");
  const Choice engine = group_with(groups, "runtimes").choices.front();
  const Choice machine = group_with(groups, "machines").choices.front();
  auto& models = group_with(groups, "models").choices;
  std::vector<Names::InScheme> wanted;
  for (Choice& choice : models) {
    const model::Scheme& scheme = scheme_of_choice(choice, engine, machine);
    choice.model =
        names.in_form(choice.model, loaded_form(engine_of(choice, engine), *choice.model, scheme));
    wanted.emplace_back(choice.model, &scheme);
  }
  names.hold(wanted);
  for (std::size_t i = 0; i < models.size(); ++i) {
    Choice& choice = models[i];
    choice.decides.weights = names.held.at(wanted[i]);
    choice.as_published = is_as_published(choice, engine, machine);
  }
}

/// Budgets in bytes. They come before weights: what is loaded on the CPU alone may be wider.
void set_budgets(const Spec& spec, const GridSpec& grid, DigitGroups& groups, Job& job) {
  if (grid.link_of("gpu_budgets")) {
    for (Choice& choice : merge(groups, "gpu_budgets", "machines").choices)
      choice.decides.gpu_budget = choice.budget->of(largest_card(*choice.decides.machine));
  } else if (!grid.values("gpu_budgets").empty()) {
    DigitGroup& machines = group_with(groups, "machines");
    note_cut_budgets(machines.choices, grid.gpu_budgets(), job);
    try {
      machines.choices = with_budgets(machines.choices, grid.gpu_budgets());
    } catch (const std::invalid_argument& e) {
      throw spec.error(grid, "gpu_budgets", e.what());
    }
  }
}

/// Cards wait for no weights that take three quarters of their memory at most.
void leave_out_needless_cpu(const GridSpec& grid, DigitGroups& groups) {
  if (!grid.values("gpu_budgets").empty()) return;
  const auto has_room = [](const Machine& machine, Bytes weights) {
    Bytes cards;
    for (const Device& card : machine.devices) cards += card.memory;
    return machine.devices.empty() || 4 * weights.real() <= 3 * cards.real();
  };
  const auto& machines = group_with(groups, "machines").choices;
  std::erase_if(group_with(groups, "models").choices, [&](const Choice& c) {
    const model::Scenario& s = c.decides;
    if (s.gpu_budget != Bytes(0)) return false;
    if (s.machine) return has_room(*s.machine, s.weights->total);
    return std::ranges::all_of(machines, [&](const Choice& each) {
      return has_room(*each.decides.machine, s.weights->total);
    });
  });
}

}  // namespace

std::vector<std::vector<Choice>> digits_of(const Spec& spec, const GridSpec& grid, Names& names) {
  auto groups = digit_groups(spec, grid, names);
  set_budgets(spec, grid, groups, names.job);
  hold_weights(groups, names);
  leave_out_needless_cpu(grid, groups);
  set_caches(groups);
  add_extras(spec, grid, groups, names);
  set_contexts(grid, groups);
  std::vector<std::vector<Choice>> digits;
  for (const DigitGroup& group : groups)
    digits.push_back(group.axes.size() == 1 ? group.choices : distinct(group.choices));
  return digits;
}

}  // namespace headroom::sweep
