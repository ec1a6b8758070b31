#include "bench/fit/pace_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bench/fit/product_rates.hpp"
#include "hardware/catalogue.hpp"

namespace headroom::sweep {
namespace {

using model::Constant;
using model::TrainingPace;

constexpr std::size_t constants = std::size(model::pace_constants);

/// Priors in the order of pace_constants. They were chosen among a few by the errors of left-out
/// sources, which they change little. Spreads are standard deviations of logarithms: of the
/// constant everywhere, between runtimes, generations of cards, cards, a runtime's kernels on
/// different generations, and sources.
struct Prior {
  double low, value, high;
  double everywhere, runtimes, generations = 0, cards = 0, kernels = 0, sources = 0;
};
constexpr Prior priors[constants] = {
    {0.1, 0.8, 1.0, 0.2, 0.15, 0.1, 0.2, 0.15, 0.1},  // compute
    {0.05, 0.45, 1.0, 0.3, 0.15, 0.2, 0.1},           // attention
    {0.3, 2, 8, 0.4, 0.3},                            // traffic
    {1e-5, 1.5e-3, 2e-2, 0.5, 0.4},                   // layer_s
    {0.2, 0.7, 1.0, 0.3, 0.15},                       // link
    {0.05, 0.8, 1.0, 0.3, 0.2},                       // hidden
    {0.5, 1.0, 2.0, 0.3, 0.2},                        // narrow
    {0.2, 0.7, 1.5, 0.3, 0.2},                        // grouped
};

std::string generation_of(const TimedStep& step) {
  return model::generation_of(step.machine.devices.front());
}
const std::string& card_of(const TimedStep& step) { return step.machine.devices.front().name; }

/// In the place of a runtime: products of matrices and nothing else.
constexpr std::string_view products = "products alone";
constexpr std::size_t of_compute = 0;
constexpr double spread_of_products = 0.3;
/// n rows of one source under one runtime weigh so much each: they err alike in more than what the
/// source's own effect takes up.
double weight_of(int n) { return std::pow(n, -0.35); }

}  // namespace

PaceSearch::PaceSearch(std::span<const TimedStep> steps)
    : steps_(steps), sums_(steps.size() + product_rates().size(), std::vector<double>(constants)) {
  add_effects();
  std::map<std::pair<std::string, std::string_view>, int> counts;
  const auto key = [](const TimedStep& step) {
    return std::pair(short_source((*step.row)["source"]), step.scenario.runtime->name);
  };
  for (const TimedStep& step : steps_) ++counts[key(step)];
  PooledProblem problem;
  for (const Effect& each : effects_) problem.spreads.push_back(each.spread);
  for (const TimedStep& step : steps_) {
    auto& slots = problem.slots.emplace_back(constants);
    for (std::size_t e = 0; e < effects_.size(); ++e) {
      const Effect& each = effects_[e];
      if ((each.source.empty() || each.source == key(step).first) &&
          (each.runtime.empty() || each.runtime == step.scenario.runtime->name) &&
          (each.cards.empty() || each.cards == generation_of(step) || each.cards == card_of(step)))
        slots[each.constant].effects.push_back(e);
    }
    problem.weights.push_back(weight_of(counts[key(step)]));
    problem.groups.emplace_back("training_time");
  }
  for (const ProductRate& rate : product_rates()) {
    const Device& card = shipped_catalogue().device(rate.card);
    auto& slots = problem.slots.emplace_back(constants);
    for (std::size_t e = 0; e < effects_.size(); ++e) {
      const Effect& each = effects_[e];
      if (each.constant == of_compute && each.source.empty() &&
          (each.runtime.empty() || each.runtime == products) &&
          (each.cards.empty() || each.cards == model::generation_of(card) ||
           each.cards == card.name))
        slots[of_compute].effects.push_back(e);
    }
    product_shares_.push_back(rate.tflops * 1e12 / card.peak(Arithmetic::bf16).value());
    problem.weights.push_back(1);
    problem.groups.emplace_back(products);
  }
  problem.apply = [this](const std::vector<double>& effects) {
    for (std::size_t i = 0; i < sums_.size(); ++i)
      for (std::size_t c = 0; c < constants; ++c) {
        sums_[i][c] = 0;
        for (const std::size_t e : solver_->problem().slots[i][c].effects)
          sums_[i][c] += effects[e];
      }
  };
  problem.residual = [this](std::size_t i) { return residual(i, sums_[i]); };
  problem.residual_moved = [this](std::size_t i, std::size_t slot, double step) {
    std::vector<double> sums = sums_[i];
    sums[slot] += step;
    return residual(i, sums);
  };
  solver_.emplace(std::move(problem));
}

double PaceSearch::residual(std::size_t i, const std::vector<double>& sums) const {
  if (i < steps_.size())
    return std::log(steps_[i].time(pace(i, sums)).total().value() / steps_[i].measured);
  const double share = priors[of_compute].value * std::exp(sums[of_compute]);
  return std::log(product_shares_[i - steps_.size()] / share);
}

void PaceSearch::solve(std::vector<bool> used) {
  used.resize(steps_.size() + product_shares_.size(), true);
  solver_->solve(used);
}

void PaceSearch::add_effects() {
  std::set<std::string> runtimes, generations, cards, sources;
  std::set<std::pair<std::string, std::string>> kernels;
  for (const TimedStep& step : steps_) {
    runtimes.emplace(step.scenario.runtime->name);
    kernels.emplace(step.scenario.runtime->name, generation_of(step));
    sources.insert(short_source((*step.row)["source"]));
    generations.insert(generation_of(step));
    cards.insert(card_of(step));
  }
  for (const ProductRate& rate : product_rates()) {
    generations.insert(model::generation_of(shipped_catalogue().device(rate.card)));
    cards.emplace(rate.card);
  }
  for (std::size_t c = 0; c < constants; ++c) {
    effects_.push_back({c, {}, {}, priors[c].everywhere});
    for (const std::string& each : runtimes) effects_.push_back({c, each, {}, priors[c].runtimes});
    if (c == of_compute) effects_.push_back({c, std::string(products), {}, spread_of_products});
    if (priors[c].cards == 0) continue;
    for (const std::string& each : generations)
      effects_.push_back({c, {}, each, priors[c].generations});
    for (const std::string& each : cards) effects_.push_back({c, {}, each, priors[c].cards});
    if (priors[c].kernels == 0) continue;
    for (const auto& [runtime, generation] : kernels)
      effects_.push_back({c, runtime, generation, priors[c].kernels});
    for (const std::string& each : sources)
      effects_.push_back({c, {}, {}, priors[c].sources, each});
  }
}

TrainingPace PaceSearch::pace(std::size_t step, const std::vector<double>& sums) const {
  TrainingPace pace{.runtime = steps_[step].scenario.runtime->name};
  for (std::size_t c = 0; c < constants; ++c)
    (pace.*model::pace_constants[c]).value =
        std::clamp(priors[c].value * std::exp(sums[c]), priors[c].low, priors[c].high);
  return pace;
}

double PaceSearch::expected(std::size_t i) const {
  std::vector<double> sums = sums_[i];
  for (std::size_t c = 0; c < constants; ++c)
    for (const std::size_t e : solver_->problem().slots[i][c].effects)
      if (!effects_[e].source.empty()) sums[c] -= effects()[e];
  return steps_[i].time(pace(i, sums)).total().value();
}

std::vector<std::string> PaceSearch::runtimes() const {
  std::vector<std::string> all{"any"};
  for (const Effect& each : effects_)
    if (each.constant == 0 && !each.runtime.empty() && each.cards.empty() &&
        each.runtime != products)
      all.push_back(each.runtime);
  return all;
}
std::vector<PaceSearch::On> PaceSearch::cards() const {
  std::vector<On> all;
  for (const Effect& each : effects_)
    if (each.constant == 0 && !each.cards.empty())
      all.push_back({each.runtime.empty() ? "any" : each.runtime, each.cards});
  return all;
}

PaceSearch::Found PaceSearch::found_of(std::vector<std::size_t> effects, double prior,
                                       std::size_t constant) const {
  constexpr double matters = 0.01;
  double sum = 0;
  for (const std::size_t e : effects) sum += this->effects()[e];
  const double spread = solver_->spread_of(effects);
  Found found{{prior * std::exp(sum),
               prior * std::exp(sum - spread),
               prior * std::exp(sum + spread),
               0,
               {}},
              {}};
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const PooledSlot& slot = solver_->problem().slots[i][constant];
    if (std::abs(slot.slope) > matters &&
        std::ranges::find(slot.effects, effects.back()) != slot.effects.end())
      found.steps.push_back(i);
  }
  found.constant.measurements = static_cast<int>(found.steps.size());
  return found;
}

PaceSearch::Found PaceSearch::found(std::size_t constant, std::string_view runtime) const {
  std::vector<std::size_t> parts;
  for (std::size_t e = 0; e < effects_.size(); ++e) {
    const Effect& each = effects_[e];
    if (each.constant == constant && each.cards.empty() && each.source.empty() &&
        (each.runtime.empty() || each.runtime == runtime))
      parts.push_back(e);
  }
  Found found = found_of(std::move(parts), priors[constant].value, constant);
  for (const auto end : {&Constant::value, &Constant::low, &Constant::high})
    found.constant.*end =
        std::clamp(found.constant.*end, priors[constant].low, priors[constant].high);
  return found;
}

std::optional<PaceSearch::Found> PaceSearch::found_on(std::size_t constant, const On& on) const {
  for (std::size_t e = 0; e < effects_.size(); ++e)
    if (effects_[e].constant == constant && effects_[e].cards == on.cards &&
        (effects_[e].runtime.empty() ? "any" : effects_[e].runtime) == on.runtime)
      return found_of({e}, 1, constant);
  return std::nullopt;
}

}  // namespace headroom::sweep
