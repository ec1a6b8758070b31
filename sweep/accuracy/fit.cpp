#include "sweep/accuracy/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "model/runtime_rows.hpp"
#include "sweep/accuracy/constant_search.hpp"
#include "sweep/accuracy/prediction.hpp"
#include "sweep/accuracy/quantile.hpp"

namespace headroom::sweep {
namespace {

using model::Constant;
using model::NamedConstant;
using model::Rates;
using model::Runtime;

constexpr int fewest_rows = 3;

/// More of it is faster.
bool is_rate(const NamedConstant& constant) {
  return constant.name.ends_with("bandwidth") || constant.name.ends_with("compute");
}

std::string line(std::string_view engine, std::string_view constant, std::size_t cards,
                 std::size_t width, const Constant& c, const std::string& source) {
  return fmt::format("{}\t{}\t{}\t{}\t{:.4g}\t{:.4g}\t{:.4g}\t{}\t{}\n", engine, constant,
                     cards == any ? "any" : model::name_of(static_cast<model::CardClass>(cards)),
                     width == any ? "any" : model::name_of(static_cast<model::Width>(width)),
                     c.value, c.low, c.high, c.measurements, source);
}

std::string sources(const std::vector<Subject>& subjects, const std::vector<std::size_t>& rows) {
  std::map<std::string, int> counts;
  for (const std::size_t i : rows) ++counts[short_source((*subjects[i].row)["source"])];
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [name, n] : counts) sorted.emplace_back(-n, name);
  std::ranges::sort(sorted);
  std::string text;
  for (const auto& [n, name] : sorted) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class EngineFit {
 public:
  EngineFit(std::vector<Runtime> rows, std::vector<Subject> subjects)
      : search_(std::move(rows), std::move(subjects)) {}

  /// Finds all constants; `text` gets their lines.
  void fit() {
    solve(unknowns());
    for (const Unknown& each : solved_)
      if (each.constant->of_rates) emit(each);
    // The widths apart, then the cells: each starts at what the level above has found.
    for (const bool cells : {false, true}) {
      std::vector<Unknown> next = split(cells);
      solve(next);
      for (const Unknown& each : solved_)
        if (each.constant->of_rates || cells) emit(each);
    }
  }
  const std::string& text() const { return text_; }
  const std::vector<Runtime>& rows() const { return search_.rows(); }

 private:
  std::vector<Unknown> unknowns() {
    std::vector<Unknown> all;
    for (const Bounds& bounds : constant_bounds())
      for (const NamedConstant& constant : model::named_constants()) {
        if (constant.name != bounds.name) continue;
        Unknown each{.constant = &constant, .low = bounds.low, .high = bounds.high, .rows = {}};
        each.rows = search_.affected(each);
        if (static_cast<int>(each.rows.size()) >= fewest_rows) all.push_back(std::move(each));
      }
    return all;
  }

  /// The unknowns of rates taken apart by width, or by card and width; the others as they are.
  std::vector<Unknown> split(bool cells) {
    std::vector<Unknown> all;
    for (const Unknown& whole : solved_) {
      if (whole.constant->of_runtime) {
        all.push_back(whole);
        continue;
      }
      for (std::size_t c = 0; c < (cells ? model::card_classes : 1); ++c)
        for (std::size_t w = 0; w < (cells ? 1 : model::widths); ++w) {
          Unknown part = whole;
          if (cells)
            part.cards = c;
          else
            part.width = w;
          part.common = search_.get(part);
          // A few anomalous runs are no reason to think a class of cards less than half as good as
          // all: runs are slow by accident, not fast.
          const bool rate = is_rate(*part.constant);
          if (cells) part.low = std::max(part.low, part.common / (rate ? 2 : 4));
          if (cells) part.high = std::min(part.high, part.common * (rate ? 4 : 2));
          part.rows = search_.affected(part);
          if (static_cast<int>(part.rows.size()) >= fewest_rows) all.push_back(std::move(part));
        }
    }
    return all;
  }

  void solve(std::vector<Unknown> unknowns) {
    search_.solve(unknowns);
    solved_ = std::move(unknowns);
  }

  /// Ratios measured / expected of some rows.
  std::vector<double> ratios(const std::vector<std::size_t>& rows) {
    std::vector<double> all;
    for (const std::size_t i : rows)
      if (const auto expected = search_.expected(i))
        all.push_back(subjects()[i].measured / *expected);
    return all;
  }

  void emit(const Unknown& unknown) {
    const double value = search_.get(unknown);
    const auto spread = ratios(unknown.rows);
    // A slower run than expected is a smaller share of a rate, a larger overhead.
    const bool rate = is_rate(*unknown.constant);
    const double slow = quantile(spread, 0.9), fast = quantile(spread, 0.1);
    text_ += line(search_.rows().front().name, unknown.constant->name, unknown.cards, unknown.width,
                  {value,
                   value * std::min(1.0, rate ? 1 / slow : fast),
                   value * std::max(1.0, rate ? 1 / fast : slow),
                   static_cast<int>(unknown.rows.size()),
                   {}},
                  sources(subjects(), unknown.rows));
  }

  const std::vector<Subject>& subjects() const { return search_.subjects(); }

  ConstantSearch search_;
  std::vector<Unknown> solved_;
  std::string text_;
};

}  // namespace

std::vector<std::optional<double>> left_out_ratios(const std::vector<Runtime>& versions,
                                                   const std::vector<Subject>& subjects) {
  constexpr std::size_t parts = 3;
  std::set<std::string> models;
  for (const Subject& each : subjects) models.insert((*each.row)["model"]);
  const auto part_of = [&](std::size_t i) {
    if (models.size() < 2) return i % parts;
    const auto at = models.find((*subjects[i].row)["model"]);
    return static_cast<std::size_t>(std::distance(models.begin(), at)) % parts;
  };
  std::vector<std::optional<double>> ratios(subjects.size());
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<Subject> rest;
    for (std::size_t i = 0; i < subjects.size(); ++i)
      if (part_of(i) != part) rest.push_back(subjects[i]);
    EngineFit others(versions, std::move(rest));
    others.fit();
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      if (part_of(i) != part) continue;
      Subject each = subjects[i];
      each.scenario.runtime =
          &*std::ranges::find(others.rows(), each.scenario.runtime->name, &Runtime::name);
      std::string why;
      if (const auto found = predict(each, why)) ratios[i] = each.measured / found->expected;
    }
  }
  return ratios;
}

namespace {

/// Of measurements whose constants are `fitted`.
std::string intervals(const std::vector<Runtime>& versions, const std::vector<Subject>& subjects,
                      const std::vector<Runtime>& fitted) {
  const auto ratios = left_out_ratios(versions, subjects);
  std::string text;
  for (const NamedConstant& each : model::named_constants()) {
    if (!each.name.ends_with("_interval")) continue;
    // Memory has few constants, which no model moves.
    const bool memory = each.name == "memory_interval";
    std::vector<std::size_t> rows;
    std::vector<double> spread;
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      const Subject& s = subjects[i];
      if (!ratios[i] || s.statistic == Statistic::weights ||
          &interval_of(s) != &(s.scenario.runtime->*each.of_runtime))
        continue;
      rows.push_back(i);
      if (!memory) spread.push_back(*ratios[i]);
      Subject each_fitted = s;
      each_fitted.scenario.runtime =
          &*std::ranges::find(fitted, s.scenario.runtime->name, &Runtime::name);
      std::string why;
      if (const auto found = predict(each_fitted, why))
        spread.push_back(s.measured / found->expected);
    }
    if (static_cast<int>(rows.size()) < fewest_rows) continue;
    const double tail = memory ? 0.08 : 0.1;
    text += line(versions.front().name, each.name, any, any,
                 {1,
                  std::min(1.0, quantile(spread, tail)),
                  std::max(1.0, quantile(spread, 1 - tail)),
                  static_cast<int>(rows.size()),
                  {}},
                 sources(subjects, rows));
  }
  return text;
}

}  // namespace

std::string fit(const std::vector<const Subject*>& subjects, Intervals with) {
  std::string text = "runtime\tconstant\tcards\twidth\tvalue\tlow\thigh\tmeasurements\tsource\n";
  const std::vector<Runtime> rows = model::policy_rows();
  for (const Runtime& row : rows) {
    if (row.family != row.name) continue;
    std::vector<Runtime> versions;
    for (const Runtime& each : rows)
      if (each.family == row.family) versions.push_back(each);
    std::vector<Subject> members;
    for (const Subject* each : subjects)
      if (each->scenario.runtime->family == row.family) members.push_back(*each);
    if (members.empty()) continue;
    EngineFit engine(versions, members);
    engine.fit();
    text += engine.text();
    if (with == Intervals::yes) text += intervals(versions, members, engine.rows());
  }
  return text;
}

}  // namespace headroom::sweep
