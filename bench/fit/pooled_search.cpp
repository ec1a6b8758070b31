#include "bench/fit/pooled_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bench/fit/bounded.hpp"
#include "bench/fit/constant_kinds.hpp"
#include "model/engine/measured_constants.hpp"
#include "sweep/accuracy/prediction.hpp"

namespace headroom::sweep {
namespace {

using model::Constant;
using model::Engine;
using model::NamedConstant;

/// Spreads of effects between engines, and between engines with common kernels, and cards, widths
/// and generations of one engine. They are at most that of the constant's prior. `repeated`: n rows
/// of one source in one group weigh n to this power each. -0.5 is for rows that carry equal
/// information, 0 for independent rows. Chosen on set-ups that are left out, dealt in four ways;
/// with 0.12 tensor parallelism errs twice as much.
constexpr double engine_spread = 1.0, related_spread = 0.15, repeated = -0.35;
constexpr double normal_90th = 1.2816;

const Constant& cell_of(const Engine& row, const NamedConstant& constant, std::size_t c,
                        std::size_t w) {
  return constant.of_engine ? constant.in(row)
                            : row.kernels.efficiency[c][w].*constant.of_efficiency;
}
Constant& cell_of(Engine& row, const NamedConstant& constant, std::size_t c, std::size_t w) {
  return const_cast<Constant&>(cell_of(std::as_const(row), constant, c, w));
}

/// Constants of times, in the order of the search.
std::vector<std::pair<const Bounds*, const NamedConstant*>> time_constants() {
  std::vector<std::pair<const Bounds*, const NamedConstant*>> all;
  for (const Bounds& bounds : constant_bounds())
    for (const NamedConstant& constant : model::named_constants())
      if (constant.name == bounds.name && !is_of_memory(constant))
        all.emplace_back(&bounds, &constant);
  return all;
}

}  // namespace

bool Effect::covers(const Engine& row) const {
  return (kernels.empty() || row.libraries == kernels) &&
         (family.empty() || row.family == family) &&
         (generation.empty() || row.generation == generation);
}

PooledSearch::PooledSearch(std::vector<Engine> rows, std::vector<ScoredRow> subjects)
    : prior_(rows), rows_(std::move(rows)) {
  for (ScoredRow& each : subjects) {
    each.scenario.runtime = &*std::ranges::find(rows_, each.scenario.runtime->name, &Engine::name);
    std::string why;
    if (!is_memory(each.statistic) && predict(each, why)) subjects_.push_back(std::move(each));
  }
  std::map<std::pair<std::string, std::string>, int> counts;
  const auto key = [&](const ScoredRow& each) {
    return std::pair(
        short_source((*each.row)["source"]) + '\t' + std::string(each.scenario.runtime->family),
        each.group);
  };
  for (const ScoredRow& each : subjects_) ++counts[key(each)];
  add_effects();
  add_slots();
  PooledProblem problem{
      .spreads = {},
      .slots = {},
      .weights = {},
      .groups = {},
      .apply = [this](const std::vector<double>& effect) { apply(effect); },
      .residual = [this](std::size_t i) { return residual(i); },
      .residual_moved = [this](std::size_t i, std::size_t slot,
                               double step) { return residual_moved(i, slot, step); }};
  for (const Effect& each : effects_) problem.spreads.push_back(each.spread);
  for (const auto& slots : slots_) {
    auto& of_row = problem.slots.emplace_back();
    for (const Slot& slot : slots) of_row.push_back({slot.effects});
  }
  for (const ScoredRow& each : subjects_) {
    problem.weights.push_back(std::pow(counts[key(each)], repeated));
    problem.groups.push_back(each.group);
  }
  solver_.emplace(std::move(problem));
}

void PooledSearch::add_effects() {
  std::map<std::string_view, std::set<std::string_view>> families;
  std::set<std::string_view> shared, sharing;  // kernels of several engines, and those engines
  for (const ScoredRow& each : subjects_) {
    const Engine& row = *each.scenario.runtime;
    families[row.family].insert(row.generation);
    if (row.libraries.empty()) continue;
    shared.insert(row.libraries);
    sharing.insert(row.family);
  }
  for (const auto& [bounds, constant] : time_constants()) {
    const Constant& prior = cell_of(prior_.front(), *constant, 0, 0);
    const double spread = std::log(prior.high / prior.low) / (2 * normal_90th);
    const double of_engine = std::min(engine_spread, spread),
                 spread_of_related = std::min(related_spread, spread);
    const auto add = [&, named = constant](Effect effect) {
      effect.constant = named;
      effects_.push_back(effect);
    };
    const auto add_by_cell = [&](Effect effect, double wide) {
      effect.spread = wide;
      for (std::size_t c = 0; c < model::card_classes; ++c) {
        effect.cards = c;
        add(effect);
      }
      effect.cards = any;
      for (std::size_t w = 0; w < model::widths; ++w) {
        effect.width = w;
        add(effect);
      }
    };
    add({.spread = spread});
    if (constant->of_efficiency) add_by_cell({}, spread_of_related);
    const bool of_kernels = is_of_kernels(*constant), of_host = is_of_host(*constant);
    if (of_kernels)
      for (const std::string_view each : shared) {
        add({.kernels = each, .spread = of_engine});
        if (constant->of_efficiency) add_by_cell({.kernels = each}, spread_of_related);
      }
    for (const auto& [family, generations] : families) {
      add({.family = family,
           .spread = of_host || (of_kernels && sharing.contains(family)) ? spread_of_related
                                                                         : of_engine});
      if (constant->of_efficiency) add_by_cell({.family = family}, spread_of_related);
      for (const std::string_view each : generations) {
        if (generations.size() > 1)
          add({.family = family, .generation = each, .spread = spread_of_related});
        if (!constant->of_efficiency) continue;
        for (std::size_t c = 0; c < model::card_classes; ++c)
          for (std::size_t w = 0; w < model::widths; ++w)
            add({.family = family,
                 .generation = each,
                 .cards = c,
                 .width = w,
                 .spread = spread_of_related});
      }
    }
  }
}

void PooledSearch::add_slots() {
  std::map<std::string_view, bool> always_offloads;
  for (const ScoredRow& each : subjects_) {
    const auto [it, added] = always_offloads.emplace(each.scenario.runtime->family, true);
    it->second = it->second && each.group.starts_with("offload");
  }
  const std::set<std::string_view> timed = engines_with_timed_requests(subjects_);
  std::vector<bool> met(effects_.size());
  for (const ScoredRow& each : subjects_) {
    std::vector<Slot>& slots = slots_.emplace_back();
    const model::Scenario& s = each.scenario;
    std::set<std::size_t> cards;
    for (const Device& device : s.machine->devices)
      cards.insert(static_cast<std::size_t>(model::card_class(device)));
    if (cards.empty()) cards.insert(static_cast<std::size_t>(model::CardClass::other));
    const auto width = static_cast<std::size_t>(model::width_of(*s.weights));
    for (const auto& [bounds, constant] : time_constants()) {
      if (!measures(each, *constant, always_offloads.at(s.runtime->family))) continue;
      const bool pooled = is_of_requests(*constant) && !timed.contains(s.runtime->family);
      for (const std::size_t card : cards) {
        Slot slot{
            .bounds = bounds, .constant = constant, .cards = card, .width = width, .effects = {}};
        for (std::size_t e = 0; e < effects_.size(); ++e)
          if (effects_[e].constant == constant && effects_[e].covers(*s.runtime) &&
              (constant->of_engine || effects_[e].covers(card, width))) {
            met[e] = true;
            if (pooled && !effects_[e].family.empty()) continue;
            slot.effects.push_back(e);
          }
        slots.push_back(std::move(slot));
        if (constant->of_engine) break;
      }
    }
  }
  std::vector<std::size_t> kept(effects_.size());
  std::vector<Effect> left;
  for (std::size_t e = 0; e < effects_.size(); ++e)
    if (met[e]) {
      kept[e] = left.size();
      left.push_back(effects_[e]);
    }
  effects_ = std::move(left);
  for (auto& slots : slots_)
    for (Slot& slot : slots)
      for (std::size_t& e : slot.effects) e = kept[e];
}

std::optional<double> PooledSearch::expected(std::size_t i) const {
  std::string why;
  return predict(subjects_[i], why);
}

void PooledSearch::apply(const std::vector<double>& values) {
  std::vector<Engine> sums = rows_;
  for (const auto& [bounds, constant] : time_constants())
    for (Engine& row : sums)
      for (std::size_t c = 0; c < model::card_classes; ++c)
        for (std::size_t w = 0; w < model::widths; ++w) cell_of(row, *constant, c, w).value = 0;
  for (std::size_t e = 0; e < effects_.size(); ++e) {
    const Effect& effect = effects_[e];
    for (Engine& row : sums) {
      if (!effect.covers(row)) continue;
      if (effect.constant->of_engine) {
        effect.constant->in(row).value += values[e];
        continue;
      }
      for (std::size_t c = 0; c < model::card_classes; ++c)
        for (std::size_t w = 0; w < model::widths; ++w)
          if (effect.covers(c, w))
            (row.kernels.efficiency[c][w].*effect.constant->of_efficiency).value += values[e];
    }
  }
  for (const auto& [bounds, constant] : time_constants())
    for (std::size_t r = 0; r < rows_.size(); ++r)
      for (std::size_t c = 0; c < model::card_classes; ++c)
        for (std::size_t w = 0; w < model::widths; ++w)
          cell_of(rows_[r], *constant, c, w).value =
              bounded(cell_of(prior_[r], *constant, c, w).value,
                      cell_of(sums[r], *constant, c, w).value, *bounds);
}

double PooledSearch::residual_moved(std::size_t i, std::size_t at, double step) const {
  const Slot& slot = slots_[i][at];
  ScoredRow subject = subjects_[i];
  Engine row = *subject.scenario.runtime;
  subject.scenario.runtime = &row;
  const Engine& prior = *std::ranges::find(prior_, row.name, &Engine::name);
  for (const std::size_t e : slot.effects) step += effects()[e];
  cell_of(row, *slot.constant, slot.cards, slot.width).value =
      bounded(cell_of(prior, *slot.constant, slot.cards, slot.width).value, step, *slot.bounds);
  std::string why;
  const auto moved = predict(subject, why);
  return moved ? std::log(*moved / subject.measured) : residual(i);
}

double PooledSearch::residual(std::size_t i) const {
  const auto found = expected(i);
  return found ? std::log(*found / subjects_[i].measured) : 0;
}

PooledSearch::Found PooledSearch::found(const NamedConstant& constant, const Engine& row,
                                        std::size_t cards, std::size_t width) const {
  constexpr double matters = 0.01;
  std::vector<std::size_t> parts;
  double sum = 0;
  for (std::size_t e = 0; e < effects_.size(); ++e)
    if (effects_[e].constant == &constant && effects_[e].covers(row) &&
        (constant.of_engine || effects_[e].covers(cards, width))) {
      parts.push_back(e);
      sum += effects()[e];
    }
  const auto bounds = std::ranges::find(constant_bounds(), constant.name, &Bounds::name);
  const Engine& prior = *std::ranges::find(prior_, row.name, &Engine::name);
  Found result{cell_of(prior, constant, cards == any ? 0 : cards, width == any ? 0 : width), {}};
  result.constant.value = bounded(result.constant.value, sum, *bounds);
  const double spread = solver_->spread_of(parts);
  result.constant.low = result.constant.value * std::exp(-spread);
  result.constant.high = result.constant.value * std::exp(spread);
  for (std::size_t i = 0; i < subjects_.size(); ++i) {
    if (subjects_[i].scenario.runtime->generation != row.generation) continue;
    for (std::size_t at = 0; at < slots_[i].size(); ++at) {
      const Slot& slot = slots_[i][at];
      if (slot.constant == &constant && std::abs(solver_->problem().slots[i][at].slope) > matters &&
          (constant.of_engine ||
           ((cards == any || slot.cards == cards) && (width == any || slot.width == width)))) {
        result.subjects.push_back(i);
        break;
      }
    }
  }
  result.constant.measurements = static_cast<int>(result.subjects.size());
  return result;
}

}  // namespace headroom::sweep
