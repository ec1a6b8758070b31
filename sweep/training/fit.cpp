#include "sweep/training/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sweep/accuracy/quantile.hpp"
#include "sweep/minimise.hpp"

namespace headroom::sweep {
namespace {

using model::TrainingPace;
using Steps = std::vector<const TimedStep*>;

constexpr double pull = 0.05;
struct Range {
  double low, start, high;
};
// Shares of what hardware could do; launches from compiled to Python's.
constexpr Range ranges[] = {{0.3, 0.7, 1.0},    {0.05, 0.4, 1.0}, {0.5, 3, 20},
                            {1e-5, 2e-3, 2e-2}, {0.2, 0.7, 1.0},  {0.05, 0.7, 1.0}};

/// "owner/repository@commit:file" without what follows the repository.
std::string source_of(const Measurement& row) {
  const std::string& all = row["source"];
  return all.substr(0, std::min({all.find('@'), all.size()}));
}

double cost(const Steps& steps, const std::map<std::string, double>& weights,
            const TrainingPace& pace, const TrainingPace* common) {
  double sum = 0, all = 0;
  for (const TimedStep* step : steps) {
    const double weight = weights.at(source_of(*step->row));
    sum += weight * std::abs(std::log(step->time(pace).total / step->measured));
    all += weight;
  }
  sum /= all;
  if (common != nullptr)
    for (const auto member : model::pace_constants)
      sum += pull * std::pow(std::log((pace.*member).value / (common->*member).value), 2);
  return sum;
}

/// Ends of a constant: where the mean error is a tenth of itself larger, all others as they are.
void set_ends(const Steps& steps, const std::map<std::string, double>& weights, TrainingPace& pace,
              std::size_t which) {
  const double least = 1.1 * cost(steps, weights, pace, nullptr);
  const auto member = model::pace_constants[which];
  const double value = (pace.*member).value;
  const auto end = [&](double factor, double limit) {
    TrainingPace moved = pace;
    double at = value;
    for (int i = 0; i < 60; ++i) {
      const double next = at * factor;
      if (factor < 1 ? next < limit : next > limit) return limit;
      (moved.*member).value = next;
      if (cost(steps, weights, moved, nullptr) > least) return at;
      at = next;
    }
    return at;
  };
  (pace.*member).low = end(0.96, ranges[which].low);
  (pace.*member).high = end(1 / 0.96, ranges[which].high);
}

TrainingPace solve(const Steps& steps, TrainingPace pace, const TrainingPace* common) {
  std::map<std::string, double> weights;
  for (const TimedStep* step : steps) ++weights[source_of(*step->row)];
  std::string sources;
  for (auto& [source, weight] : weights) {
    weight = 1 / std::sqrt(weight);
    sources += (sources.empty() ? "" : ", ") + source.substr(source.find(':') + 1);
  }
  for (int sweep = 0; sweep < 6; ++sweep)
    for (std::size_t i = 0; i < std::size(ranges); ++i) {
      const auto member = model::pace_constants[i];
      (pace.*member).value =
          minimise(ranges[i].low, ranges[i].high, (pace.*member).value, [&](double value) {
            TrainingPace tried = pace;
            (tried.*member).value = value;
            return cost(steps, weights, tried, common);
          });
    }
  static std::set<std::string> kept;  // sources of constants are views
  const std::string_view source = *kept.insert(sources).first;
  for (std::size_t i = 0; i < std::size(ranges); ++i) {
    set_ends(steps, weights, pace, i);
    (pace.*model::pace_constants[i]).measurements = static_cast<int>(steps.size());
    (pace.*model::pace_constants[i]).source = source;
  }
  return pace;
}

std::vector<TimedStep> timed_steps(TrainingMeasurements& measurements,
                                   const std::vector<Measurement>& rows) {
  std::vector<TimedStep> steps;
  for (const Measurement& row : rows) {
    if (!is_training_time(row) || row["grade"] == "C") continue;
    try {
      steps.push_back(measurements.timed(row));
    } catch (const Skipped&) {
      // Scoring says why.
    } catch (const std::invalid_argument&) {
    }
  }
  return steps;
}

}  // namespace

std::vector<TrainingPace> fitted_paces(std::span<const TimedStep> steps) {
  Steps all;
  std::map<std::string_view, Steps> by_runtime;
  for (const TimedStep& step : steps) {
    all.push_back(&step);
    by_runtime[step.scenario.runtime->name].push_back(&step);
  }
  TrainingPace start{.runtime = "any"};
  for (std::size_t i = 0; i < std::size(ranges); ++i)
    (start.*model::pace_constants[i]).value = ranges[i].start;
  std::vector<TrainingPace> paces;
  if (all.empty()) return paces;
  paces.push_back(solve(all, start, nullptr));
  for (const auto& [runtime, own] : by_runtime) {
    if (own.size() < least_timed_steps) continue;
    TrainingPace pace = paces.front();
    pace.runtime = runtime;
    const TrainingPace common = paces.front();
    paces.push_back(solve(own, pace, &common));
  }
  return paces;
}

std::string fitted_training_paces(const std::vector<Measurement>& rows,
                                  const std::string& models_folder) {
  TrainingMeasurements measurements(models_folder);
  const auto steps = timed_steps(measurements, rows);
  std::string text = "runtime\tconstant\tvalue\tlow\thigh\tmeasurements\tsource\n";
  for (const TrainingPace& pace : fitted_paces(steps)) {
    std::vector<double> ratios;
    for (const TimedStep& step : steps)
      if (pace.runtime == "any" || step.scenario.runtime->name == pace.runtime)
        ratios.push_back(step.measured / step.time(pace).total);
    for (std::size_t i = 0; i < std::size(model::pace_names); ++i) {
      const model::Constant& c = pace.*model::pace_constants[i];
      text += fmt::format("{}\t{}\t{:.4g}\t{:.4g}\t{:.4g}\t{}\t{}\n", pace.runtime,
                          model::pace_names[i], c.value, c.low, c.high, c.measurements, c.source);
    }
    text += fmt::format(
        "{}\tinterval\t1\t{:.4g}\t{:.4g}\t{}\tresiduals of the same, 10th and 90th "
        "percentile\n",
        pace.runtime, quantile(ratios, 0.1), quantile(ratios, 0.9), ratios.size());
  }
  return text;
}

std::vector<Score> left_out_times(const std::vector<Measurement>& rows,
                                  const std::string& models_folder) {
  TrainingMeasurements measurements(models_folder);
  const auto steps = timed_steps(measurements, rows);
  std::set<std::string> sources;
  for (const TimedStep& step : steps) sources.insert(source_of(*step.row));
  std::vector<Score> scores;
  for (const std::string& source : sources) {
    std::vector<TimedStep> others;
    for (const TimedStep& step : steps)
      if (source_of(*step.row) != source) others.push_back(step);
    const auto paces = fitted_paces(others);
    if (paces.empty()) continue;
    for (const TimedStep& step : steps) {
      if (source_of(*step.row) != source) continue;
      const auto own =
          std::ranges::find(paces, step.scenario.runtime->name, &TrainingPace::runtime);
      TrainingPace pace = own != paces.end() ? *own : paces.front();
      pace.interval = model::training_pace(step.scenario.runtime->name).interval;
      scores.push_back(score_of(step, pace));
    }
  }
  return scores;
}

}  // namespace headroom::sweep
