#include "sweep/accuracy/fit.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

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
/// Of 0.02, 0.1 and 0.5, tried for cells alone: 0.1 lowers what a left-out source errs by (TPOT 20
/// to 15 %) and hardly moves fitted rows; 0.5 helps left-out models more, but p90 of fitted layer
/// splits grows from 16 to 20 %.
constexpr double pull = 0.1;

/// More of it is faster.
bool is_rate(const NamedConstant& constant) {
  return constant.name.ends_with("bandwidth") || constant.name.ends_with("compute");
}

/// Of memory: what every version holds, and what no time measures.
bool is_of_memory(const NamedConstant& constant) {
  return constant.name == "context_bytes" || constant.name == "held_twice" ||
         constant.name == "memory_interval";
}

/// Half the width of its prior's interval, in logarithms; 0 where that reaches to 0.
double prior_spread(const Runtime& row, const NamedConstant& constant) {
  const Constant& prior =
      constant.of_runtime ? row.*constant.of_runtime : row.rates.front().front().*constant.of_rates;
  return prior.low > 0 && prior.value > 0 ? std::log(prior.high / prior.low) / 2 : 0;
}

/// A line of constants.tsv.
struct Line {
  const NamedConstant* constant;
  std::size_t cards = any, width = any;
  Constant found;
  std::string source;
  bool is(const Unknown& unknown) const {
    return constant == unknown.constant && cards == unknown.cards && width == unknown.width;
  }
};

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

/// The constants of one engine: first of all its versions together, then of each generation, which
/// starts at those.
class EngineFit {
 public:
  EngineFit(std::vector<Runtime> rows, std::vector<Subject> subjects)
      : search_(std::move(rows), std::move(subjects)) {}

  /// Finds all constants of all versions.
  void fit() {
    solve(unknowns());
    add_to_lines(of_rates(solved_));
    // The widths apart, then the cells: each starts at what the level above has found.
    for (const bool cells : {false, true}) {
      solve(split(cells));
      add_to_lines(cells ? solved_ : of_rates(solved_));
    }
  }

  /// The same of `generation` alone, from constants that `all` found for every version: a common
  /// factor of the rates of every card and width, then cells and the other constants.
  void fit_from(const EngineFit& all) {
    std::vector<Unknown> factors;
    for (const Line& each : all.lines_) {
      if (is_of_memory(*each.constant) ||
          std::ranges::find(factors, each.constant, &Unknown::constant) != factors.end())
        continue;
      const auto bounds = std::ranges::find(constant_bounds(), each.constant->name, &Bounds::name);
      Unknown one{.constant = each.constant,
                  .low = bounds->low,
                  .high = bounds->high,
                  .base = {},
                  .rows = {}};
      if (each.constant->of_rates) one = search_.factor_of(*each.constant, 4);
      one.common = search_.get(one);
      one.pull = pull;
      one.rows = search_.affected(one);
      if (static_cast<int>(one.rows.size()) >= fewest_rows) factors.push_back(std::move(one));
    }
    solve(factors);
    std::map<const NamedConstant*, double> factor;
    for (const Unknown& each : factors)
      if (each.constant->of_rates) factor[each.constant] = search_.get(each);
    std::vector<Unknown> cells;
    for (const Unknown& each : factors)
      if (each.constant->of_runtime) cells.push_back(each);
    for (const NamedConstant& constant : model::named_constants()) {
      if (!constant.of_rates) continue;
      const auto bounds = std::ranges::find(constant_bounds(), constant.name, &Bounds::name);
      for (std::size_t c = 0; c < model::card_classes; ++c)
        for (std::size_t w = 0; w < model::widths; ++w) {
          Unknown cell{.constant = &constant,
                       .low = bounds->low,
                       .high = bounds->high,
                       .cards = c,
                       .width = w,
                       .base = {},
                       .rows = {}};
          restrict(cell);
          if (static_cast<int>(cell.rows.size()) >= fewest_rows) cells.push_back(std::move(cell));
        }
    }
    solve(cells);
    for (const Line& each : all.lines_) {
      if (std::ranges::any_of(cells, [&](const Unknown& cell) { return each.is(cell); })) continue;
      Line& same = lines_.emplace_back(each);
      double ratio = factor.contains(each.constant) ? factor[each.constant] : 1;
      if (each.cards != any && each.width != any)
        ratio = search_.get({.constant = each.constant,
                             .low = 0,
                             .high = 0,
                             .cards = each.cards,
                             .width = each.width,
                             .base = {},
                             .rows = {}}) /
                each.found.value;
      for (const auto end : {&Constant::value, &Constant::low, &Constant::high})
        same.found.*end *= ratio;
    }
    add_to_lines(cells);
  }

  std::string text(std::string_view name) const {
    std::string all;
    for (const Line& each : lines_)
      all += line(name, each.constant->name, each.cards, each.width, each.found, each.source);
    return all;
  }
  const std::vector<Runtime>& rows() const { return search_.rows(); }

 private:
  std::vector<Unknown> unknowns() {
    std::vector<Unknown> all;
    for (const Bounds& bounds : constant_bounds())
      for (const NamedConstant& constant : model::named_constants()) {
        if (constant.name != bounds.name) continue;
        Unknown each{
            .constant = &constant, .low = bounds.low, .high = bounds.high, .base = {}, .rows = {}};
        if (const double z = prior_spread(search_.rows().front(), constant);
            z > 0 && !is_of_memory(constant)) {
          each.common = search_.get(each);
          each.pull = pull / (z * z);
        }
        each.rows = search_.affected(each);
        if (static_cast<int>(each.rows.size()) >= fewest_rows) all.push_back(std::move(each));
      }
    return all;
  }

  /// Pulls a cell to its value now, and keeps it near: a few anomalous runs are no reason to think
  /// a class of cards less than half as good as all: runs are slow by accident, not fast.
  void restrict(Unknown& cell) {
    cell.common = search_.get(cell);
    cell.pull = pull;
    const bool rate = is_rate(*cell.constant);
    cell.low = std::max(cell.low, cell.common / (rate ? 2 : 4));
    cell.high = std::max(cell.low, std::min(cell.high, cell.common * (rate ? 4 : 2)));
    cell.rows = search_.affected(cell);
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
          if (cells) {
            part.cards = c;
            restrict(part);
          } else {
            part.width = w;
            part.common = search_.get(part);
            part.pull = pull;
            part.rows = search_.affected(part);
          }
          if (static_cast<int>(part.rows.size()) >= fewest_rows) all.push_back(std::move(part));
        }
    }
    return all;
  }

  void solve(std::vector<Unknown> unknowns) {
    search_.solve(unknowns);
    solved_ = std::move(unknowns);
  }

  static std::vector<Unknown> of_rates(std::vector<Unknown> unknowns) {
    std::erase_if(unknowns, [](const Unknown& each) { return !each.constant->of_rates; });
    return unknowns;
  }

  /// Ratios measured / expected of some rows.
  std::vector<double> ratios(const std::vector<std::size_t>& rows) const {
    std::vector<double> all;
    for (const std::size_t i : rows)
      if (const auto expected = search_.expected(i))
        all.push_back(subjects()[i].measured / *expected);
    return all;
  }

  void add_to_lines(const std::vector<Unknown>& unknowns) {
    for (const Unknown& each : unknowns) {
      const double value = search_.get(each);
      const auto spread = ratios(each.rows);
      // A slower run than expected is a smaller share of a rate, a larger overhead.
      const bool rate = is_rate(*each.constant);
      const double slow = quantile(spread, 0.9), fast = quantile(spread, 0.1);
      lines_.push_back({each.constant,
                        each.cards,
                        each.width,
                        {value,
                         value * std::min(1.0, rate ? 1 / slow : fast),
                         value * std::max(1.0, rate ? 1 / fast : slow),
                         static_cast<int>(each.rows.size()),
                         {}},
                        sources(subjects(), each.rows)});
    }
  }

  const std::vector<Subject>& subjects() const { return search_.subjects(); }

  ConstantSearch search_;
  std::vector<Unknown> solved_;
  std::vector<Line> lines_;
};

/// The constants of each generation of one engine, from what all its versions have in common.
struct FamilyFit {
  std::string text;
  std::vector<Runtime> rows;
};
FamilyFit fit_family(const std::vector<Runtime>& versions, const std::vector<Subject>& subjects) {
  EngineFit all(versions, subjects);
  all.fit();
  FamilyFit found{{}, all.rows()};
  std::set<std::string_view> generations;
  for (const Runtime& row : versions) generations.insert(generation_of(row));
  for (const std::string_view generation : generations) {
    if (generations.size() == 1) {
      found.text += all.text(generation);
      continue;
    }
    std::vector<Subject> members;
    for (const Subject& each : subjects)
      if (generation_of(*each.scenario.runtime) == generation) members.push_back(each);
    EngineFit one(all.rows(), std::move(members));
    one.fit_from(all);
    found.text += one.text(generation);
    for (std::size_t i = 0; i < versions.size(); ++i)
      if (generation_of(versions[i]) == generation) found.rows[i] = one.rows()[i];
  }
  return found;
}

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
    const FamilyFit others = fit_family(versions, rest);
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      if (part_of(i) != part) continue;
      Subject each = subjects[i];
      each.scenario.runtime =
          &*std::ranges::find(others.rows, each.scenario.runtime->name, &Runtime::name);
      std::string why;
      if (const auto found = predict(each, why)) ratios[i] = each.measured / found->expected;
    }
  }
  return ratios;
}

namespace {

/// Of measurements whose constants are `fitted`; those of a generation by its own, where it has
/// some.
std::string intervals(const std::vector<Runtime>& versions, const std::vector<Subject>& subjects,
                      const std::vector<Runtime>& fitted) {
  const auto ratios = left_out_ratios(versions, subjects);
  std::set<std::string_view> generations;
  for (const Runtime& row : versions) generations.insert(generation_of(row));
  std::string text;
  const auto add = [&](const NamedConstant& named, std::string_view generation, bool all) {
    // Memory has few constants, which no model moves.
    const bool memory = named.name == "memory_interval";
    std::vector<std::size_t> rows;
    std::vector<double> spread;
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      const Subject& s = subjects[i];
      if (!ratios[i] || s.statistic == Statistic::weights ||
          (!all && generation_of(*s.scenario.runtime) != generation) ||
          &interval_of(s) != &(s.scenario.runtime->*named.of_runtime))
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
    if (std::ssize(rows) < fewest_rows) return false;
    const double tail = memory ? 0.08 : 0.1;
    text += line(generation, named.name, any, any,
                 {1,
                  std::min(1.0, quantile(spread, tail)),
                  std::max(1.0, quantile(spread, 1 - tail)),
                  static_cast<int>(rows.size()),
                  {}},
                 sources(subjects, rows));
    return true;
  };
  for (const NamedConstant& each : model::named_constants())
    if (each.name.ends_with("_interval"))
      for (const std::string_view generation : generations)
        if (is_of_memory(each) || !add(each, generation, false)) add(each, generation, true);
  return text;
}

}  // namespace

std::string fit(const std::vector<const Subject*>& subjects, Intervals with) {
  const std::vector<Runtime> rows = model::policy_rows();
  std::vector<std::string> texts(rows.size());
  tbb::parallel_for(std::size_t{0}, rows.size(), [&](std::size_t i) {
    const Runtime& row = rows[i];
    if (row.family != row.name) return;
    std::vector<Runtime> versions;
    for (const Runtime& each : rows)
      if (each.family == row.family) versions.push_back(each);
    std::vector<Subject> members;
    for (const Subject* each : subjects)
      if (each->scenario.runtime->family == row.family) members.push_back(*each);
    if (members.empty()) return;
    const FamilyFit engine = fit_family(versions, members);
    texts[i] = engine.text;
    if (with == Intervals::yes) texts[i] += intervals(versions, members, engine.rows);
  });
  std::string text = "runtime\tconstant\tcards\twidth\tvalue\tlow\thigh\tmeasurements\tsource\n";
  for (const std::string& each : texts) text += each;
  return text;
}

}  // namespace headroom::sweep
