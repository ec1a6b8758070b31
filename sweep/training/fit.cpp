#include "sweep/training/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "sweep/accuracy/quantile.hpp"
#include "sweep/minimise.hpp"

namespace headroom::sweep {
namespace {

using model::CardPace;
using model::Constant;
using model::TrainingPace;
using Steps = std::vector<const TimedStep*>;

constexpr double pull = 0.05;
struct Range {
  double low, start, high;
};
// Shares of what hardware could do; launches from compiled to Python's.
constexpr Range ranges[] = {{0.3, 0.7, 1.0}, {0.05, 0.4, 1.0}, {0.5, 3, 20},   {1e-5, 2e-3, 2e-2},
                            {0.2, 0.7, 1.0}, {0.05, 0.7, 1.0}, {0.5, 1.0, 2.0}};
constexpr Range of_cards{0.4, 1, 1.6};
constexpr Constant CardPace::*card_constants[] = {&CardPace::compute, &CardPace::attention};

/// "owner/repository@commit:file" without what follows the repository.
std::string source_of(const Measurement& row) {
  const std::string& all = row["source"];
  return all.substr(0, std::min({all.find('@'), all.size()}));
}
std::string cards_of(const TimedStep& step) {
  return model::generation_of(step.machine.devices.front());
}

/// Constants while they are looked for: of a runtime, and of all cards.
struct Tried {
  TrainingPace pace;
  std::vector<CardPace> cards;

  TrainingPace at(const std::string& generation) const {
    const auto found = std::ranges::find(cards, generation, &CardPace::cards);
    return found != cards.end() ? model::on_card(pace, *found) : pace;
  }
};

/// One of them, and the steps that it moves.
struct Knob {
  std::function<Constant&(Tried&)> of;
  Range range;
  Steps steps;
};

class Search {
 public:
  Search(const Steps& steps, const TrainingPace* common) : steps_(steps), common_(common) {
    for (const TimedStep* step : steps) ++weights_[source_of(*step->row)];
    for (auto& [source, n] : weights_) {
      all_ += std::sqrt(n);
      n = 1 / std::sqrt(n);
      sources_ += (sources_.empty() ? "" : ", ") + source.substr(source.find(':') + 1);
    }
  }

  Tried solve(Tried tried, const std::vector<Knob>& knobs) const {
    for (int sweep = 0; sweep < 6; ++sweep)
      for (const Knob& knob : knobs)
        knob.of(tried).value =
            minimise(knob.range.low, knob.range.high, knob.of(tried).value, [&](double value) {
              Tried moved = tried;
              knob.of(moved).value = value;
              return cost(knob.steps, moved) + pulls(moved);
            });
    static std::set<std::string> kept;  // sources of constants are views
    const std::string_view source = *kept.insert(sources_).first;
    const double least = cost(steps_, tried);
    for (const Knob& knob : knobs) {
      set_ends(tried, knob, least);
      knob.of(tried).measurements = static_cast<int>(knob.steps.size());
      knob.of(tried).source = source;
    }
    return tried;
  }

 private:
  /// The part of the mean error that comes from `steps`.
  double cost(const Steps& steps, const Tried& tried) const {
    std::map<std::string, TrainingPace> paces;
    double sum = 0;
    for (const TimedStep* step : steps) {
      const std::string cards = cards_of(*step);
      const auto pace = paces.try_emplace(cards, tried.at(cards)).first;
      sum += weights_.at(source_of(*step->row)) *
             std::abs(std::log(step->time(pace->second).total / step->measured));
    }
    return sum / all_;
  }
  double pulls(const Tried& tried) const {
    double sum = 0;
    if (common_ != nullptr)
      for (const auto member : model::pace_constants)
        sum += std::pow(std::log((tried.pace.*member).value / (common_->*member).value), 2);
    else
      for (const CardPace& cards : tried.cards)
        for (const auto member : card_constants)
          sum += std::pow(std::log((cards.*member).value), 2) / 10;
    return pull * sum;
  }
  /// Ends of a constant: where the mean error is a tenth of itself larger, all others as they are.
  void set_ends(Tried& tried, const Knob& knob, double least) const {
    const double value = knob.of(tried).value, own = cost(knob.steps, tried);
    const auto end = [&](double factor, double limit) {
      Tried moved = tried;
      double at = value;
      for (int i = 0; i < 60; ++i) {
        const double next = at * factor;
        if (factor < 1 ? next < limit : next > limit) return limit;
        knob.of(moved).value = next;
        if (cost(knob.steps, moved) > own + 0.1 * least) return at;
        at = next;
      }
      return at;
    };
    const double low = end(0.96, knob.range.low), high = end(1 / 0.96, knob.range.high);
    knob.of(tried).low = low;
    knob.of(tried).high = high;
  }

  const Steps& steps_;
  const TrainingPace* common_;
  std::map<std::string, double> weights_;
  double all_ = 0;
  std::string sources_;
};

std::vector<Knob> knobs_of_pace(const Steps& steps) {
  std::vector<Knob> all;
  for (std::size_t i = 0; i < std::size(ranges); ++i) {
    Steps moved = steps;
    if (model::pace_constants[i] == &TrainingPace::narrow)
      std::erase_if(moved, [](const TimedStep* s) { return s->scenario.matrices == nullptr; });
    if (!moved.empty())
      all.push_back({[i](Tried& t) -> Constant& { return t.pace.*model::pace_constants[i]; },
                     ranges[i], moved});
  }
  return all;
}

std::vector<Knob> knobs_of_cards(const Steps& steps, const std::vector<CardPace>& cards) {
  std::vector<Knob> all;
  for (std::size_t c = 0; c < cards.size(); ++c) {
    Steps moved = steps;
    std::erase_if(moved, [&](const TimedStep* s) { return cards_of(*s) != cards[c].cards; });
    for (const auto member : card_constants)
      all.push_back(
          {[c, member](Tried& t) -> Constant& { return t.cards[c].*member; }, of_cards, moved});
  }
  return all;
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

FittedPaces fitted_paces(std::span<const TimedStep> steps) {
  Steps all;
  std::map<std::string_view, Steps> by_runtime;
  std::set<std::string> generations;
  for (const TimedStep& step : steps) {
    all.push_back(&step);
    by_runtime[step.scenario.runtime->name].push_back(&step);
    generations.insert(cards_of(step));
  }
  FittedPaces fitted;
  if (all.empty()) return fitted;
  Tried start{.pace = {.runtime = "any"}, .cards = {}};
  for (std::size_t i = 0; i < std::size(ranges); ++i)
    (start.pace.*model::pace_constants[i]) = {ranges[i].start, ranges[i].low, ranges[i].high, 0,
                                              "unmeasured"};
  for (const std::string& cards : generations) start.cards.push_back({.cards = cards});
  std::vector<Knob> knobs = knobs_of_pace(all);
  for (Knob& knob : knobs_of_cards(all, start.cards)) knobs.push_back(std::move(knob));
  const Tried common = Search(all, nullptr).solve(start, knobs);
  fitted.runtimes.push_back(common.pace);
  fitted.cards = common.cards;
  for (const auto& [runtime, own] : by_runtime) {
    if (own.size() < least_timed_steps) continue;
    Tried tried = common;
    tried.pace.runtime = runtime;
    fitted.runtimes.push_back(
        Search(own, &common.pace).solve(std::move(tried), knobs_of_pace(own)).pace);
  }
  return fitted;
}

TrainingPace FittedPaces::of(const TimedStep& step) const {
  const auto own = std::ranges::find(runtimes, step.scenario.runtime->name, &TrainingPace::runtime);
  return Tried{own != runtimes.end() ? *own : runtimes.front(), cards}.at(cards_of(step));
}

std::string fitted_training_paces(const std::vector<Measurement>& rows,
                                  const std::string& models_folder) {
  TrainingMeasurements measurements(models_folder);
  const auto steps = timed_steps(measurements, rows);
  const FittedPaces fitted = fitted_paces(steps);
  std::string text = "runtime\tconstant\tcards\tvalue\tlow\thigh\tmeasurements\tsource\n";
  const auto line = [&](std::string_view runtime, std::string_view name, std::string_view cards,
                        const Constant& c) {
    text += fmt::format("{}\t{}\t{}\t{:.4g}\t{:.4g}\t{:.4g}\t{}\t{}\n", runtime, name, cards,
                        c.value, c.low, c.high, c.measurements, c.source);
  };
  for (const TrainingPace& pace : fitted.runtimes) {
    std::vector<double> ratios;
    for (const TimedStep& step : steps)
      if (pace.runtime == "any" || step.scenario.runtime->name == pace.runtime)
        ratios.push_back(step.measured / step.time(fitted.of(step)).total);
    for (std::size_t i = 0; i < std::size(model::pace_names); ++i)
      line(pace.runtime, model::pace_names[i], "any", pace.*model::pace_constants[i]);
    line(pace.runtime, "interval", "any",
         {1, quantile(ratios, 0.1), quantile(ratios, 0.9), static_cast<int>(ratios.size()),
          "residuals of the same, 10th and 90th percentile"});
  }
  for (const CardPace& cards : fitted.cards) {
    line("any", "compute", cards.cards, cards.compute);
    line("any", "attention", cards.cards, cards.attention);
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
    const FittedPaces fitted = fitted_paces(others);
    if (fitted.runtimes.empty()) continue;
    for (const TimedStep& step : steps) {
      if (source_of(*step.row) != source) continue;
      TrainingPace pace = fitted.of(step);
      pace.interval = model::training_pace(step.scenario.runtime->name).interval;
      scores.push_back(score_of(step, pace));
    }
  }
  return scores;
}

}  // namespace headroom::sweep
