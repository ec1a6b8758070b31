#include "bench/fit/fit.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/fit/constant_lines.hpp"
#include "bench/fit/interval_lines.hpp"
#include "model/engine/policy_rows.hpp"
#include "sweep/accuracy/cache_figures.hpp"
#include "sweep/accuracy/prediction.hpp"
#include "sweep/accuracy/quantile.hpp"

namespace headroom::sweep {
namespace {

using model::Constant;
using model::Engine;
using model::NamedConstant;

constexpr int fewest_rows = 3;

/// The constants of memory of one engine, in `rows`; lines for each of its generations.
std::string fit_memory(std::vector<Engine>& rows, std::string_view family,
                       const std::vector<ScoredRow>& subjects) {
  std::vector<Engine> versions;
  for (const Engine& row : rows)
    if (row.family == family) versions.push_back(row);
  std::vector<ScoredRow> members;
  for (const ScoredRow& each : subjects)
    if (each.scenario.runtime->family == family && is_memory(each.statistic) &&
        !is_of_start_log(each.statistic))
      members.push_back(each);
  ConstantSearch search(versions, std::move(members));
  std::vector<Unknown> unknowns;
  for (const Bounds& bounds : constant_bounds())
    for (const NamedConstant& constant : model::named_constants()) {
      if (constant.name != bounds.name || !is_of_memory(constant)) continue;
      Unknown each{.constant = &constant, .low = bounds.low, .high = bounds.high, .rows = {}};
      each.rows = search.affected(each);
      if (static_cast<int>(each.rows.size()) >= fewest_rows) unknowns.push_back(std::move(each));
    }
  search.solve(unknowns);
  std::string text;
  for (const Unknown& each : unknowns) {
    const double value = search.get(each);
    for (Engine& row : rows)
      if (row.family == family) each.constant->in(row).value = value;
    std::vector<double> ratios;
    for (const std::size_t i : each.rows)
      if (const auto expected = search.expected(i))
        ratios.push_back(search.subjects()[i].measured / *expected);
    const Constant found{value,
                         value * std::min(1.0, quantile(ratios, 0.1)),
                         value * std::max(1.0, quantile(ratios, 0.9)),
                         static_cast<int>(each.rows.size()),
                         {}};
    for (const std::string_view generation : generations_of(family))
      text += constant_line(generation, each.constant->name, any, any, found,
                            sources_behind(search.subjects(), each.rows));
  }
  return text;
}

/// Constants of memory in the place of their priors.
std::vector<Engine> with_memory(const std::vector<ScoredRow>& subjects, std::string& text) {
  std::vector<Engine> rows = model::policy_rows();
  for (const std::string_view family : families_of(subjects))
    text += fit_memory(rows, family, subjects);
  return rows;
}

std::optional<double> expected_with(const std::vector<Engine>& rows, ScoredRow subject) {
  subject.scenario.runtime =
      &*std::ranges::find(rows, subject.scenario.runtime->name, &Engine::name);
  std::string why;
  return predict(subject, why);
}

/// The constants of times, in the order of the file.
std::vector<const NamedConstant*> time_constants() {
  std::vector<const NamedConstant*> all;
  for (const Bounds& bounds : constant_bounds())
    for (const NamedConstant& constant : model::named_constants())
      if (constant.name == bounds.name && !is_of_memory(constant)) all.push_back(&constant);
  return all;
}

/// Factors of cards and widths on the rate of any card. Their spread is the mean of the additional
/// spread of cells.
model::CellFactors factors_of(const PooledSearch& search, const NamedConstant& constant,
                              const Engine& row) {
  const auto width_of = [](const Constant& c) { return std::log(c.high / c.low) / 2; };
  const Constant common = search.found(constant, row, any, any).constant;
  model::CellFactors found;
  for (std::size_t c = 0; c < model::card_classes; ++c)
    found.by_card[c] = search.found(constant, row, c, any).constant.value / common.value;
  for (std::size_t w = 0; w < model::widths; ++w)
    found.by_width[w] = search.found(constant, row, any, w).constant.value / common.value;
  double sum = 0;
  for (std::size_t c = 0; c < model::card_classes; ++c)
    for (std::size_t w = 0; w < model::widths; ++w)
      sum += std::pow(width_of(search.found(constant, row, c, w).constant), 2) -
             std::pow(width_of(common), 2);
  found.spread = std::sqrt(std::max(0.0, sum / (model::card_classes * model::widths)));
  return found;
}

/// Measured rows that a cell needs for a line of its own. With fewer, the rate on any card and the
/// family's factors predict left-out rows as well, with wider intervals that hold more often.
constexpr int least_rows = 3;

/// Lines of one generation: the rates on any card at any width, then the measured cells.
std::string time_lines(const PooledSearch& search, const Engine& row) {
  std::string text;
  const auto add = [&](const NamedConstant& constant, std::size_t cards, std::size_t width,
                       const PooledSearch::Found& found) {
    text += constant_line(row.generation, constant.name, cards, width, found.constant,
                          sources_behind(search.subjects(), found.subjects));
  };
  for (const NamedConstant* constant : time_constants()) {
    const auto common = search.found(*constant, row, any, any);
    add(*constant, any, any, common);
    if (!constant->of_efficiency) continue;
    for (std::size_t c = 0; c < model::card_classes; ++c)
      for (std::size_t w = 0; w < model::widths; ++w) {
        const auto cell = search.found(*constant, row, c, w);
        if (cell.constant.measurements >= least_rows) add(*constant, c, w, cell);
      }
  }
  return text;
}

}  // namespace

Fit::Fit(std::vector<ScoredRow> subjects) : subjects_(std::move(subjects)) {
  rows_ = with_memory(subjects_, memory_lines_);
  std::vector<ScoredRow> times;
  for (std::size_t i = 0; i < subjects_.size(); ++i) {
    if (is_memory(subjects_[i].statistic) || !expected_with(rows_, subjects_[i])) continue;
    times_.push_back(i);
    times.push_back(subjects_[i]);
  }
  search_.emplace(rows_, std::move(times));
  search_->solve();
}

std::vector<std::optional<double>> Fit::left_out(const Folds& folds) {
  std::vector<std::optional<double>> found(subjects_.size());
  const std::vector<double> all = search_->effects();
  for (std::size_t fold = 0; fold < count(folds); ++fold) {
    std::vector<ScoredRow> rest;
    for (std::size_t i = 0; i < subjects_.size(); ++i)
      if (folds[i] != fold) rest.push_back(subjects_[i]);
    std::string lines;
    const auto memory = with_memory(rest, lines);
    for (std::size_t i = 0; i < subjects_.size(); ++i)
      if (folds[i] == fold && is_memory(subjects_[i].statistic))
        found[i] = expected_with(memory, subjects_[i]);
    std::vector<bool> used;
    for (const std::size_t i : times_) used.push_back(folds[i] != fold);
    search_->set_effects(std::vector<double>(all.size()));  // left-out rows leave nothing behind
    search_->solve(used);
    for (std::size_t t = 0; t < times_.size(); ++t)
      if (!used[t]) found[times_[t]] = search_->expected(t);
  }
  search_->set_effects(all);
  return found;
}

std::string Fit::effects() const {
  std::string text = "family\tconstant";
  for (std::size_t c = 0; c < model::card_classes; ++c)
    text += fmt::format("\t{}", model::name_of(static_cast<model::CardClass>(c)));
  for (std::size_t w = 0; w < model::widths; ++w)
    text += fmt::format("\t{}", model::name_of(static_cast<model::Width>(w)));
  text += "\tspread\n";
  for (const std::string_view family : families_of(subjects_)) {
    const Engine& row = *std::ranges::find(search_->rows(), family, &Engine::family);
    for (const NamedConstant* constant : time_constants()) {
      if (!constant->of_efficiency) continue;
      const model::CellFactors factors = factors_of(*search_, *constant, row);
      text += fmt::format("{}\t{}", family, constant->name);
      for (const double each : factors.by_card) text += fmt::format("\t{:.8g}", each);
      for (const double each : factors.by_width) text += fmt::format("\t{:.8g}", each);
      text += fmt::format("\t{:.3g}\n", factors.spread);
    }
  }
  return text;
}

std::string Fit::lines() {
  std::string text = "runtimes\tconstant\tcards\twidth\tvalue\tlow\thigh\tmeasurements\tsource\n";
  text += memory_lines_;
  Expected expected{std::vector<std::optional<double>>(subjects_.size()),
                    left_out(folds_by_source(subjects_)), left_out(folds_by_model(subjects_))};
  for (std::size_t i = 0; i < subjects_.size(); ++i)
    if (is_memory(subjects_[i].statistic)) expected.fitted[i] = expected_with(rows_, subjects_[i]);
  for (std::size_t t = 0; t < times_.size(); ++t) expected.fitted[times_[t]] = search_->expected(t);
  for (const std::string_view family : families_of(subjects_)) {
    for (const std::string_view generation : generations_of(family))
      for (const Engine& row : search_->rows())
        if (row.name == generation) text += time_lines(*search_, row);
    text += interval_lines(subjects_, expected, family);
  }
  return joined(text);
}

}  // namespace headroom::sweep
