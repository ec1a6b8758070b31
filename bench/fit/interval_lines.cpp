#include "bench/fit/interval_lines.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "bench/fit/constant_lines.hpp"
#include "bench/fit/uncertain_interval.hpp"
#include "model/engine/measured_constants.hpp"
#include "sweep/accuracy/constant_search.hpp"
#include "sweep/accuracy/prediction.hpp"
#include "sweep/accuracy/quantile.hpp"

namespace headroom::sweep {
namespace {

using model::Constant;
using model::Engine;
using model::NamedConstant;

constexpr int fewest_rows = 3, fewest_sources = 5;
/// Cards with their processors, for intervals of its own: ends are tenths of rows, and those of one
/// machine err alike.
constexpr int fewest_machines = 10;

/// Rows whose errors one interval is of.
struct Alike {
  std::vector<std::size_t> rows;
  std::set<std::string> sources, machines;
};

/// Those of the kind of interval that `named` is, by engines that count.
template <class Counts>
Alike alike(const std::vector<ScoredRow>& subjects, const NamedConstant& named, Counts&& counts) {
  Alike found;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const ScoredRow& s = subjects[i];
    const Engine& engine = *s.scenario.runtime;
    if ((is_memory(s.statistic) && !uncertain_ratio(s, s.measured)) || !counts(engine) ||
        &interval_of(s) != &(named.in(engine)))
      continue;
    found.rows.push_back(i);
    found.sources.insert(short_source((*s.row)["source"]));
    found.machines.insert((*s.row)["machine"] + '\t' + (*s.row)["host"]);
  }
  return found;
}

constexpr double tail = 0.1;

/// Widens `interval` to the 10th and 90th percentile of the rows.
void widen(Constant& interval, const std::vector<ScoredRow>& subjects,
           const std::vector<std::size_t>& rows,
           const std::vector<std::optional<double>>& expected) {
  std::vector<double> ratios;
  for (const std::size_t i : rows)
    if (expected[i]) ratios.push_back(subjects[i].measured / *expected[i]);
  if (ratios.empty()) return;
  interval.low = std::min(interval.low, quantile(ratios, tail));
  interval.high = std::max(interval.high, quantile(ratios, 1 - tail));
}

/// Likewise where sources count alike, whatever the number of their rows.
void widen_by_source(Constant& interval, const std::vector<ScoredRow>& subjects,
                     const std::vector<std::size_t>& rows,
                     const std::vector<std::optional<double>>& expected) {
  const auto source = [&](std::size_t i) { return short_source((*subjects[i].row)["source"]); };
  std::map<std::string, double> of_source;
  for (const std::size_t i : rows)
    if (expected[i]) ++of_source[source(i)];
  std::vector<Weighed> ratios;
  for (const std::size_t i : rows)
    if (expected[i])
      ratios.push_back({subjects[i].measured / *expected[i], 1 / of_source[source(i)]});
  if (ratios.empty()) return;
  interval.low = std::min(interval.low, quantile(ratios, tail));
  interval.high = std::max(interval.high, quantile(ratios, 1 - tail));
}

/// `others`: rows of any engine that count too.
Constant time_interval(const std::vector<ScoredRow>& subjects, const Alike& own,
                       const Alike& others, const Expected& expected) {
  Constant found{1, 1, 1, static_cast<int>(own.rows.size()), {}};
  widen(found, subjects, own.rows, expected.fitted);
  widen(found, subjects, own.rows,
        own.sources.size() > 1 ? expected.without_source : expected.without_model);
  widen(found, subjects, others.rows, expected.without_source);
  return found;
}

}  // namespace

std::string interval_lines(const std::vector<ScoredRow>& subjects, const Expected& expected,
                           std::string_view family) {
  std::string text;
  const std::set<std::string_view> generations = generations_of(family);
  for (const NamedConstant& named : model::named_constants()) {
    if (!named.name.ends_with("_interval")) continue;
    const bool memory = named.name == "uncertain_interval";
    const Alike all = alike(subjects, named, [](const Engine&) { return true; });
    const Alike of_family =
        alike(subjects, named, [&](const Engine& r) { return r.family == family; });
    if (std::ssize(of_family.rows) < fewest_rows) continue;
    for (const std::string_view generation : generations) {
      Alike own =
          alike(subjects, named, [&](const Engine& r) { return r.generation == generation; });
      if (memory || std::ssize(own.machines) < fewest_machines) own = of_family;
      // Loading is of the host more than of the engine (is_of_host).
      const bool load = named.name == "load_interval";
      const bool few = load || std::ssize(of_family.sources) < fewest_sources;
      Constant found = memory ? uncertain_interval(subjects, own.rows, expected.fitted)
                              : time_interval(subjects, own, few ? all : Alike(), expected);
      if (load) widen_by_source(found, subjects, all.rows, expected.without_source);
      text += constant_line(generation, named.name, any, any, found,
                            sources_behind(subjects, own.rows));
    }
  }
  return text;
}

}  // namespace headroom::sweep
