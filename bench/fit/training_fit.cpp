#include "bench/fit/training_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/fit/pace_search.hpp"
#include "sweep/accuracy/quantile.hpp"

namespace headroom::sweep {
namespace {

using model::Constant;

std::vector<TimedStep> timed_steps(TrainingMeasurements& measurements,
                                   const std::vector<Measurement>& rows) {
  std::vector<TimedStep> steps;
  for (const Measurement& row : rows) {
    if (!is_training_time(row)) continue;
    try {
      steps.push_back(measurements.timed(row));
    } catch (const Skipped&) {
      // Scoring says why.
    } catch (const std::invalid_argument&) {
    }
  }
  return steps;
}

std::string sources(const std::vector<TimedStep>& steps, const std::vector<std::size_t>& of) {
  std::vector<const Measurement*> rows;
  for (const std::size_t i : of) rows.push_back(steps[i].row);
  const std::string text = sources_of(rows);
  return text.empty() ? "pooled, published rates of products" : text;
}

/// Seconds of each step by constants that its fold had no part in.
std::vector<double> left_out(PaceSearch& search, const std::vector<TimedStep>& steps,
                             FoldsOfRows deal) {
  const std::vector<double> all = search.effects();
  std::vector<const Measurement*> rows;
  std::vector<std::string_view> engines;
  for (const TimedStep& step : steps) {
    rows.push_back(step.row);
    engines.push_back(step.scenario.runtime->name);
  }
  const Folds folds = deal(rows, engines);
  std::vector<double> expected(steps.size());
  for (std::size_t fold = 0; fold < count(folds); ++fold) {
    std::vector<bool> used;
    for (const std::size_t of : folds) used.push_back(of != fold);
    search.set_effects(std::vector<double>(all.size()));  // left-out rows leave nothing behind
    search.solve(used);
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (!used[i]) expected[i] = search.expected(i);
  }
  search.set_effects(all);
  return expected;
}

/// The 10th and 90th percentile of measured / expected by constants of other sources, which is the
/// error for a new user. n rows of a source count as sqrt(n), because their errors are similar. The
/// runtime's own rows count three times as much as others, because one or two sources say little
/// about the next.
Constant interval_of(const std::vector<TimedStep>& steps, const std::vector<double>& unseen,
                     std::string_view runtime) {
  constexpr double own = 3;
  std::map<std::string, double> rows;
  for (const TimedStep& step : steps) ++rows[short_source((*step.row)["source"])];
  Constant interval{1, 1, 1, 0, {}};
  std::vector<Weighed> ratios;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool here = runtime == "any" || steps[i].scenario.runtime->name == runtime;
    interval.measurements += here ? 1 : 0;
    const double alike = std::sqrt(rows.at(short_source((*steps[i].row)["source"])));
    ratios.push_back({steps[i].measured / unseen[i], (here ? own : 1) / alike});
  }
  interval.low = std::min(1.0, quantile(ratios, 0.1));
  interval.high = std::max(1.0, quantile(ratios, 0.9));
  return interval;
}

}  // namespace

Folds whole_sources(const std::vector<const Measurement*>& rows,
                    const std::vector<std::string_view>&) {
  std::map<std::string, std::size_t> number;
  Folds folds;
  for (const Measurement* row : rows)
    folds.push_back(number.emplace(short_source((*row)["source"]), number.size()).first->second);
  return folds;
}

std::string fitted_training_paces(const std::vector<Measurement>& rows,
                                  const std::string& models_folder) {
  TrainingMeasurements measurements(models_folder);
  const auto steps = timed_steps(measurements, rows);
  PaceSearch search(steps);
  search.solve(std::vector<bool>(steps.size(), true));
  std::string text = "runtime\tconstant\tcards\tvalue\tlow\thigh\tmeasurements\tsource\n";
  const auto line = [&](std::string_view runtime, std::string_view name, std::string_view cards,
                        const Constant& c, const std::string& source) {
    text += fmt::format("{}\t{}\t{}\t{:.4g}\t{:.4g}\t{:.4g}\t{}\t{}\n", runtime, name, cards,
                        c.value, c.low, c.high, c.measurements, source);
  };
  struct Found {
    std::string runtime, cards;
    std::size_t constant;
    PaceSearch::Found found;
  };
  std::vector<Found> all;
  for (const std::string& runtime : search.runtimes())
    for (std::size_t c = 0; c < std::size(model::pace_names); ++c)
      all.push_back({runtime, "any", c, search.found(c, runtime)});
  for (const PaceSearch::On& on : search.cards())
    for (std::size_t c = 0; c < std::size(model::pace_names); ++c)
      if (auto found = search.found_on(c, on)) all.push_back({on.runtime, on.cards, c, *found});
  const std::vector<double> unseen = left_out(search, steps, whole_sources);

  for (std::size_t n = 0; n < all.size(); ++n) {
    const Found& each = all[n];
    line(each.runtime, model::pace_names[each.constant], each.cards, each.found.constant,
         sources(steps, each.found.steps));
    const bool last =
        n + 1 == all.size() || all[n + 1].runtime != each.runtime || all[n + 1].cards != each.cards;
    if (each.cards != "any" || !last) continue;
    line(each.runtime, "interval", "any", interval_of(steps, unseen, each.runtime),
         "residuals by constants of other sources, n of one as sqrt(n), the runtime's own thrice");
  }
  return text;
}

std::vector<Score> left_out_times(const std::vector<Measurement>& rows,
                                  const std::string& models_folder, FoldsOfRows deal) {
  TrainingMeasurements measurements(models_folder);
  const auto steps = timed_steps(measurements, rows);
  PaceSearch search(steps);
  search.solve(std::vector<bool>(steps.size(), true));
  const std::vector<double> expected = left_out(search, steps, deal);
  std::vector<Score> scores;
  for (std::size_t i = 0; i < steps.size(); ++i) scores.push_back(score_of(steps[i], expected[i]));
  return scores;
}

std::vector<Score> left_out_training(const std::vector<Measurement>& rows,
                                     const std::string& models_folder) {
  TrainingMeasurements measurements(models_folder);
  std::vector<Score> scores = left_out_times(rows, models_folder, whole_sources);
  for (const Measurement& row : rows) {
    if (!is_training(row) || is_training_time(row)) continue;
    try {
      scores.push_back(measurements.score(row, Overheads::unmeasured));
    } catch (const Skipped&) {
      // Scoring says why.
    } catch (const std::invalid_argument&) {
    }
  }
  return scores;
}

}  // namespace headroom::sweep
