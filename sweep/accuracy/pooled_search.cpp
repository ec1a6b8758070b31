#include "sweep/accuracy/pooled_search.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "model/runtime_rows.hpp"
#include "sweep/accuracy/prediction.hpp"
#include "sweep/accuracy/quantile.hpp"

namespace headroom::sweep {
namespace {

using model::Constant;
using model::NamedConstant;
using model::Runtime;

/// Spreads of effects: between engines, and between cards, widths and generations of one engine; at
/// most that of the constant's prior.
/// Of 0.15 to 0.4, tried on models and sources that are left out, none is better throughout: they
/// err alike, and fitted rows by less the wider it is.
constexpr double engines = 0.6, alike = 0.4;
constexpr double normal_90th = 1.2816;

const Constant& cell_of(const Runtime& row, const NamedConstant& constant, std::size_t c,
                        std::size_t w) {
  return constant.of_runtime ? row.*constant.of_runtime : row.rates[c][w].*constant.of_rates;
}
Constant& cell_of(Runtime& row, const NamedConstant& constant, std::size_t c, std::size_t w) {
  return const_cast<Constant&>(cell_of(std::as_const(row), constant, c, w));
}

/// Of times, in the order in which they are sought.
std::vector<std::pair<const Bounds*, const NamedConstant*>> time_constants() {
  std::vector<std::pair<const Bounds*, const NamedConstant*>> all;
  for (const Bounds& bounds : constant_bounds())
    for (const NamedConstant& constant : model::named_constants())
      if (constant.name == bounds.name && !is_of_memory(constant))
        all.emplace_back(&bounds, &constant);
  return all;
}

/// Solves A x = b in place for a symmetric A whose Cholesky factor, row by row, is left in `a`.
/// False where A is not positive.
bool factorise(std::vector<double>& a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    double* row = &a[j * n];
    for (std::size_t k = 0; k <= j; ++k) {
      const double* other = &a[k * n];
      double sum = row[k];
      for (std::size_t i = 0; i < k; ++i) sum -= row[i] * other[i];
      if (k < j)
        row[k] = sum / other[k];
      else if (sum <= 0)
        return false;
      else
        row[k] = std::sqrt(sum);
    }
  }
  return true;
}
void forward(const std::vector<double>& l, std::size_t n, std::vector<double>& x) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= l[i * n + k] * x[k];
    x[i] /= l[i * n + i];
  }
}
void backward(const std::vector<double>& l, std::size_t n, std::vector<double>& x) {
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= l[k * n + i] * x[k];
    x[i] /= l[i * n + i];
  }
}

}  // namespace

bool Effect::covers(const Runtime& row) const {
  return (family.empty() || row.family == family) &&
         (generation.empty() || generation_of(row) == generation);
}

PooledSearch::PooledSearch(std::vector<Runtime> rows, std::vector<Subject> subjects)
    : prior_(rows), rows_(std::move(rows)) {
  for (Subject& each : subjects) {
    each.scenario.runtime = &*std::ranges::find(rows_, each.scenario.runtime->name, &Runtime::name);
    std::string why;
    if (!is_memory(each.statistic) && predict(each, why)) subjects_.push_back(std::move(each));
  }
  std::map<std::pair<std::string, std::string>, int> counts;
  const auto key = [&](const Subject& each) {
    return std::pair(
        short_source((*each.row)["source"]) + '\t' + std::string(each.scenario.runtime->family),
        each.group);
  };
  for (const Subject& each : subjects_) ++counts[key(each)];
  for (const Subject& each : subjects_) weight_.push_back(1 / std::sqrt(counts[key(each)]));
  add_effects();
  add_slots();
}

void PooledSearch::add_effects() {
  std::map<std::string_view, std::set<std::string_view>> families;
  for (const Subject& each : subjects_)
    families[each.scenario.runtime->family].insert(generation_of(*each.scenario.runtime));
  for (const auto& [bounds, constant] : time_constants()) {
    const Constant& prior = cell_of(prior_.front(), *constant, 0, 0);
    const double spread = std::log(prior.high / prior.low) / (2 * normal_90th);
    const double of_engine = std::min(engines, spread), of_likes = std::min(alike, spread);
    const auto add = [&, named = constant](Effect effect) {
      effect.constant = named;
      effects_.push_back(effect);
    };
    const auto apart = [&](Effect effect, double spread) {
      effect.spread = spread;
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
    if (constant->of_rates) apart({}, of_likes);
    for (const auto& [family, generations] : families) {
      add({.family = family, .spread = of_engine});
      if (constant->of_rates) apart({.family = family}, of_likes);
      for (const std::string_view each : generations) {
        if (generations.size() > 1) add({.family = family, .generation = each, .spread = of_likes});
        if (!constant->of_rates) continue;
        for (std::size_t c = 0; c < model::card_classes; ++c)
          for (std::size_t w = 0; w < model::widths; ++w)
            add({.family = family, .generation = each, .cards = c, .width = w, .spread = of_likes});
      }
    }
  }
}

void PooledSearch::add_slots() {
  std::map<std::string_view, bool> always_offloads;
  for (const Subject& each : subjects_) {
    const auto [it, added] = always_offloads.emplace(each.scenario.runtime->family, true);
    it->second = it->second && each.group.starts_with("offload");
  }
  std::vector<bool> met(effects_.size());
  for (const Subject& each : subjects_) {
    std::vector<Slot>& slots = slots_.emplace_back();
    const model::Scenario& s = each.scenario;
    std::set<std::size_t> cards;
    for (const Device& device : s.machine->devices)
      cards.insert(static_cast<std::size_t>(model::card_class(device)));
    if (cards.empty()) cards.insert(static_cast<std::size_t>(model::CardClass::other));
    const auto width = static_cast<std::size_t>(model::width_of(*s.weights));
    for (const auto& [bounds, constant] : time_constants()) {
      if (!measures(each, *constant, always_offloads.at(s.runtime->family))) continue;
      for (const std::size_t card : cards) {
        Slot slot{
            .bounds = bounds, .constant = constant, .cards = card, .width = width, .effects = {}};
        for (std::size_t e = 0; e < effects_.size(); ++e)
          if (effects_[e].constant == constant && effects_[e].covers(*s.runtime) &&
              (constant->of_runtime || effects_[e].covers(card, width))) {
            slot.effects.push_back(e);
            met[e] = true;
          }
        slots.push_back(std::move(slot));
        if (constant->of_runtime) break;
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
  effect_.assign(effects_.size(), 0);
  for (auto& slots : slots_)
    for (Slot& slot : slots)
      for (std::size_t& e : slot.effects) e = kept[e];
}

std::optional<double> PooledSearch::expected(std::size_t i) const {
  std::string why;
  const auto found = predict(subjects_[i], why);
  return found ? std::optional(found->expected) : std::nullopt;
}

double PooledSearch::residual(std::size_t i) const {
  const auto found = expected(i);
  return found ? std::log(*found / subjects_[i].measured) : 0;
}

void PooledSearch::apply() {
  std::vector<Runtime> sums = rows_;
  for (const auto& [bounds, constant] : time_constants())
    for (Runtime& row : sums)
      for (std::size_t c = 0; c < model::card_classes; ++c)
        for (std::size_t w = 0; w < model::widths; ++w) cell_of(row, *constant, c, w).value = 0;
  for (std::size_t e = 0; e < effects_.size(); ++e) {
    const Effect& effect = effects_[e];
    for (Runtime& row : sums) {
      if (!effect.covers(row)) continue;
      if (effect.constant->of_runtime) {
        (row.*effect.constant->of_runtime).value += effect_[e];
        continue;
      }
      for (std::size_t c = 0; c < model::card_classes; ++c)
        for (std::size_t w = 0; w < model::widths; ++w)
          if (effect.covers(c, w)) (row.rates[c][w].*effect.constant->of_rates).value += effect_[e];
    }
  }
  for (const auto& [bounds, constant] : time_constants())
    for (std::size_t r = 0; r < rows_.size(); ++r)
      for (std::size_t c = 0; c < model::card_classes; ++c)
        for (std::size_t w = 0; w < model::widths; ++w)
          cell_of(rows_[r], *constant, c, w).value =
              std::clamp(cell_of(prior_[r], *constant, c, w).value *
                             std::exp(cell_of(sums[r], *constant, c, w).value),
                         bounds->low, bounds->high);
}

void PooledSearch::set_effects(std::vector<double> effects) {
  effect_ = std::move(effects);
  apply();
}

void PooledSearch::differentiate(std::size_t i, bool all) {
  constexpr double step = 0.05;
  Subject subject = subjects_[i];
  Runtime row = *subject.scenario.runtime;
  subject.scenario.runtime = &row;
  const double before = residual_[i];
  for (Slot& slot : slots_[i]) {
    if (!all && slot.slope == 0) continue;
    double& value = cell_of(row, *slot.constant, slot.cards, slot.width).value;
    const double kept = value;
    const double to = value * std::exp(step) > slot.bounds->high ? -step : step;
    value *= std::exp(to);
    std::string why;
    const auto found = predict(subject, why);
    value = kept;
    slot.slope = found ? (std::log(found->expected / subject.measured) - before) / to : 0;
  }
}

void PooledSearch::update_scales(const std::vector<bool>& used) {
  constexpr double least = 0.08;  // what a model or a source has of its own
  std::map<std::string, std::vector<double>> sizes;
  for (std::size_t i = 0; i < subjects_.size(); ++i)
    if (used[i]) sizes[subjects_[i].group].push_back(std::abs(residual_[i]));
  std::map<std::string, double> scale;
  for (auto& [group, all] : sizes)
    scale[group] = std::max(least, 1.4826 * quantile(std::move(all), 0.5));
  scale_.assign(subjects_.size(), 1);
  for (std::size_t i = 0; i < subjects_.size(); ++i)
    if (used[i]) scale_[i] = scale.at(subjects_[i].group);
}

double PooledSearch::cost(const std::vector<bool>& used) const {
  double sum = 0;
  for (std::size_t i = 0; i < subjects_.size(); ++i)
    if (used[i]) sum += weight_[i] * (std::hypot(1, residual_[i] / scale_[i]) - 1);
  for (std::size_t e = 0; e < effects_.size(); ++e)
    sum += effect_[e] * effect_[e] / (2 * effects_[e].spread * effects_[e].spread);
  return sum;
}

void PooledSearch::solve(const std::vector<bool>& used) {
  const std::size_t n = effects_.size();
  constexpr int passes = 15;
  const auto residuals = [&] {
    apply();
    residual_.resize(subjects_.size());
    tbb::parallel_for(std::size_t{0}, subjects_.size(), [&](std::size_t i) {
      if (used[i]) residual_[i] = residual(i);
    });
  };
  residuals();
  double damping = 1e-3;
  for (int pass = 0; pass < passes; ++pass) {
    update_scales(used);
    tbb::parallel_for(std::size_t{0}, subjects_.size(), [&](std::size_t i) {
      if (used[i]) differentiate(i, pass % 4 == 0);
    });
    std::vector<double> curvature(n * n), gradient(n);
    for (std::size_t e = 0; e < n; ++e) {
      const double precision = 1 / (effects_[e].spread * effects_[e].spread);
      curvature[e * n + e] = precision;
      gradient[e] = precision * effect_[e];
    }
    for (std::size_t i = 0; i < subjects_.size(); ++i) {
      if (!used[i]) continue;
      const double r = residual_[i], scale = scale_[i];
      const double w = weight_[i] / (scale * scale * std::hypot(1, r / scale));
      for (const Slot& a : slots_[i]) {
        if (a.slope == 0) continue;
        for (const std::size_t e : a.effects) {
          gradient[e] += w * a.slope * r;
          for (const Slot& b : slots_[i])
            for (const std::size_t f : b.effects)
              if (f <= e) curvature[e * n + f] += w * a.slope * b.slope;
        }
      }
    }
    const std::vector<double> kept = effect_;
    const double before = cost(used);
    double moved = 0;
    bool better = false;
    for (int attempt = 0; attempt < 6 && !better; ++attempt) {
      std::vector<double> a = curvature, x = gradient;
      for (std::size_t e = 0; e < n; ++e) a[e * n + e] *= 1 + damping;
      if (factorise(a, n)) {
        forward(a, n, x);
        backward(a, n, x);
        moved = 0;
        for (std::size_t e = 0; e < n; ++e) {
          const double by = std::clamp(x[e], -1.0, 1.0);
          effect_[e] = kept[e] - by;
          moved = std::max(moved, std::abs(by));
        }
        residuals();
        better = cost(used) < before;
      }
      if (better) {
        damping = std::max(1e-4, damping / 4);
        factor_ = std::move(a);
      } else {
        effect_ = kept;
        damping *= 8;
      }
    }
    if (!better) {
      residuals();
      break;
    }
    if (moved < 0.005) break;
  }
}

PooledSearch::Found PooledSearch::found(const NamedConstant& constant, const Runtime& row,
                                        std::size_t cards, std::size_t width) const {
  constexpr double matters = 0.01;
  const std::size_t n = effects_.size();
  std::vector<double> x(n);
  double sum = 0;
  for (std::size_t e = 0; e < n; ++e)
    if (effects_[e].constant == &constant && effects_[e].covers(row) &&
        (constant.of_runtime || effects_[e].covers(cards, width))) {
      x[e] = 1;
      sum += effect_[e];
    }
  const auto bounds = std::ranges::find(constant_bounds(), constant.name, &Bounds::name);
  const Runtime& prior = *std::ranges::find(prior_, row.name, &Runtime::name);
  Found result{cell_of(prior, constant, cards == any ? 0 : cards, width == any ? 0 : width), {}};
  result.constant.value =
      std::clamp(result.constant.value * std::exp(sum), bounds->low, bounds->high);
  double variance = 0;
  if (!factor_.empty()) {
    forward(factor_, n, x);
    for (const double each : x) variance += each * each;
  }
  const double spread = normal_90th * std::sqrt(variance);
  result.constant.low = result.constant.value * std::exp(-spread);
  result.constant.high = result.constant.value * std::exp(spread);
  for (std::size_t i = 0; i < subjects_.size(); ++i) {
    if (generation_of(*subjects_[i].scenario.runtime) != generation_of(row)) continue;
    for (const Slot& slot : slots_[i])
      if (slot.constant == &constant && std::abs(slot.slope) > matters &&
          (constant.of_runtime ||
           ((cards == any || slot.cards == cards) && (width == any || slot.width == width)))) {
        result.subjects.push_back(i);
        break;
      }
  }
  result.constant.measurements = static_cast<int>(result.subjects.size());
  return result;
}

}  // namespace headroom::sweep
