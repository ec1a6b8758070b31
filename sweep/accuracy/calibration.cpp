#include "sweep/accuracy/calibration.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sweep/accuracy/prediction.hpp"
#include "sweep/accuracy/quantile.hpp"

namespace headroom::sweep {
namespace {

using model::Engine;

constexpr std::size_t max_folds = 12;

std::vector<Engine> family_of(const ScoredRow& subject) {
  std::vector<Engine> rows;
  for (const Engine& row : model::engines())
    if (row.family == subject.scenario.runtime->family) rows.push_back(row);
  return rows;
}

/// Subjects by what is left out together: a model where there are several, else one by one, in as
/// many parts as there may be.
std::vector<std::size_t> folds_of(const std::vector<ScoredRow>& subjects, std::string& words) {
  std::vector<const model::Model*> models;
  std::vector<std::size_t> fold;
  for (const ScoredRow& each : subjects) {
    const auto* model = each.scenario.weights->model;
    auto at = std::ranges::find(models, model);
    if (at == models.end()) at = models.insert(models.end(), model);
    fold.push_back(static_cast<std::size_t>(at - models.begin()) % max_folds);
  }
  words = fmt::format("each of {} models", models.size());
  if (models.size() >= 3) return fold;
  for (std::size_t i = 0; i < fold.size(); ++i) fold[i] = i % max_folds;
  words = subjects.size() <= max_folds ? "each measurement"
                                       : fmt::format("each of {} parts", max_folds);
  return fold;
}

/// Constants and errors when one fold is left out.
struct Remaining {
  std::vector<double> values;                            ///< values of the constants
  std::vector<std::pair<std::size_t, double>> expected;  ///< subject, figure
};

Remaining without(const std::vector<ScoredRow>& subjects, const std::vector<std::size_t>& folds,
                  std::size_t fold, std::vector<Unknown> unknowns) {
  std::vector<ScoredRow> rest;
  for (std::size_t i = 0; i < subjects.size(); ++i)
    if (folds[i] != fold) rest.push_back(subjects[i]);
  Remaining out;
  ConstantSearch search(family_of(subjects.front()), std::move(rest));
  for (Unknown& each : unknowns) each.rows = search.affected(each);
  search.solve(unknowns);
  for (const Unknown& each : unknowns) out.values.push_back(search.get(each));
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    if (folds[i] != fold) continue;
    ScoredRow held = subjects[i];
    held.scenario.runtime =
        &*std::ranges::find(search.rows(), held.scenario.runtime->name, &Engine::name);
    std::string why;
    if (const auto found = predict(held, why)) out.expected.emplace_back(i, *found);
  }
  return out;
}

/// Intervals of the kinds of figures, from what was left out: the 8th and 92nd percentile of
/// measured / expected, of memory of its uncertain part. `f` says of which engine and by what.
void add_intervals(Calibration& out, const std::vector<ScoredRow>& subjects, Factor f) {
  constexpr std::size_t fewest = 5;
  for (const auto name : {"uncertain_interval", "decode_interval", "prefill_interval",
                          "offload_interval", "ram_stated_interval", "serving_interval",
                          "first_token_interval", "throughput_interval", "load_interval"}) {
    std::vector<double> ratios;
    const model::NamedConstant& interval = constant_named(name);
    for (std::size_t i = 0; i < subjects.size(); ++i)
      if (&interval_of(subjects[i]) == &interval.in(*subjects[i].scenario.runtime)) {
        const double expected = out.rows[i].left_out;
        if (!is_memory(subjects[i].statistic))
          ratios.push_back(out.rows[i].measured / expected);
        else if (const auto ratio = uncertain_ratio(subjects[i], expected))
          ratios.push_back(*ratio);
      }
    if (ratios.size() < fewest) continue;
    f.name = name;
    f.cards = f.width = "any";
    f.value = 1;
    f.low = std::min(1.0, quantile(ratios, 0.08));
    f.high = std::max(1.0, quantile(ratios, 0.92));
    f.measurements = static_cast<int>(ratios.size());
    out.constants.push_back({f, 1});
  }
}

/// Solves. A constant that reaches its bound keeps the shipped value, because another one is
/// probably wrong. A constant that the measurements cannot separate from it takes its place, if
/// any.
std::vector<Unknown> solved(ConstantSearch& search, const ConstantChoice& choice,
                            Calibration& out) {
  std::vector<Unknown> unknowns = choice.chosen;
  while (!unknowns.empty()) {
    search.solve(unknowns);
    const auto at_bound = std::ranges::find_if(unknowns, [&](const Unknown& each) {
      const double value = search.get(each);
      return value < each.low * 1.01 || value > each.high * 0.99;
    });
    if (at_bound == unknowns.end()) break;
    const std::string name = name_of(*at_bound);
    out.not_fitted.push_back(
        {name, fmt::format("the fit gives {:.3g}, a limit of the possible range ({:.3g} to {:.3g})",
                           search.get(*at_bound), at_bound->low, at_bound->high)});
    for (const Unknown& each : unknowns) search.set(each, each.common);
    const auto other = std::ranges::find(choice.alternatives, name, &Alternative::of);
    if (other == choice.alternatives.end()) {
      unknowns.erase(at_bound);
      continue;
    }
    *at_bound = other->unknown;
    std::erase_if(out.not_fitted,
                  [&](const NotFitted& each) { return each.name == name_of(other->unknown); });
    out.not_fitted.back().why += "; " + name_of(other->unknown) + " is fitted in its place";
  }
  return unknowns;
}

}  // namespace

ErrorFigures errors_of(const std::vector<FittedRow>& rows, double FittedRow::*expected) {
  std::vector<double> errors;
  for (const FittedRow& each : rows) errors.push_back(std::abs(each.*expected / each.measured - 1));
  return {quantile(errors, 0.5), quantile(errors, 0.9)};
}

bool Calibration::supported() const {
  constexpr double better = 0.9;
  const auto off = [&](double FittedRow::*expected) {
    double sum = 0;  // sum that the search minimises
    for (const FittedRow& each : rows) sum += std::abs(std::log(each.*expected / each.measured));
    return sum;
  };
  return !constants.empty() && off(&FittedRow::left_out) < better * off(&FittedRow::before);
}

std::string impossible(const ScoredRow& subject) {
  constexpr double slack = 0.45;  // kernels that sum in 16 bit have twice the stated peak
  const double floor = plain(subject);
  if (!(floor > 0) || subject.measured >= slack * floor) return {};
  if (is_memory(subject.statistic))
    return fmt::format("{:.3g} GiB is less than weights and caches take ({:.3g} GiB)",
                       subject.measured / GiB, floor / GiB);
  return fmt::format("{:.3g} s is less than the hardware's full rates allow ({:.3g} s)",
                     subject.measured, floor);
}

Calibration calibrate(const std::vector<ScoredRow>& all) {
  Calibration out;
  out.runtime = all.front().scenario.runtime->family;
  std::vector<ScoredRow> subjects;
  std::string why;
  for (const ScoredRow& each : all)
    if (predict(each, why)) subjects.push_back(each);
  if (subjects.empty()) return out;
  ConstantSearch search(family_of(subjects.front()), subjects);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const double before = search.expected(i).value_or(subjects[i].measured);
    out.rows.push_back(
        {subjects[i].row, subjects[i].group, subjects[i].measured, before, before, before});
  }
  if (subjects.size() < fewest_measurements) return out;
  const ConstantChoice choice = choose_constants(search);
  out.not_fitted = choice.not_fitted;
  const std::vector<Unknown> chosen = solved(search, choice, out);
  if (chosen.empty()) return out;
  for (std::size_t i = 0; i < subjects.size(); ++i)
    out.rows[i].after = search.expected(i).value_or(out.rows[i].before);

  const auto folds = folds_of(subjects, out.folds);
  const std::size_t count = *std::ranges::max_element(folds) + 1;
  std::vector<Remaining> left_out(count);
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t fold) {
    left_out[fold] = without(subjects, folds, fold, chosen);
  });
  for (const Remaining& each : left_out)
    for (const auto& [i, expected] : each.expected) out.rows[i].left_out = expected;

  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const Unknown& unknown = chosen[k];
    FittedConstant fitted{
        {.runtime = out.runtime, .name = std::string(unknown.constant->name), .source = {}},
        unknown.common};
    Factor& f = fitted.factor;
    if (unknown.constant->of_efficiency) {
      f.cards = model::name_of(static_cast<model::CardClass>(unknown.cards));
      f.width = model::name_of(static_cast<model::Width>(unknown.width));
    }
    f.value = f.low = f.high = search.get(unknown);
    for (const Remaining& each : left_out) {
      f.low = std::min(f.low, each.values[k]);
      f.high = std::max(f.high, each.values[k]);
    }
    f.measurements = static_cast<int>(unknown.rows.size());
    out.constants.push_back(std::move(fitted));
  }
  add_intervals(out, subjects, out.constants.front().factor);
  return out;
}

}  // namespace headroom::sweep
