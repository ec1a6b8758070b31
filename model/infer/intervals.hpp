// 80 % intervals of an estimate, as factors on expected values.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "model/infer/estimate.hpp"
#include "model/infer/interval_rules.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {

/// An 80 % interval as factors on the expected value, from the residuals of measured rows. With no
/// measurements they are stated guesses.
struct Interval {
  constexpr Interval() = default;
  constexpr Interval(double low_end, double high_end, int rows)
      : low(low_end), high(high_end), measurements(rows) {}
  explicit Interval(const Constant& c) : Interval(c.low, c.high, c.measurements) {}

  double low = 1, high = 1;
  int measurements = 0;
};
/// Intervals of a first token and of a decode step without measurements.
inline constexpr Interval unmeasured_first{0.4, 2.5, 0}, unmeasured_step{0.5, 2.0, 0};

/// Estimate::first_least and step_least of a time that cannot be shorter.
inline constexpr double max_low_share = 127;

/// Intervals of one scenario's times. Each kind has its own residuals.
struct TimeIntervals {
  Interval load, ttft, tpot;
};
/// Under load: of the first token, of a token and a whole request, of the time that a number of
/// requests takes.
struct ServingIntervals {
  Interval ttft, tpot, rate;
};
/// All intervals of a runtime.
struct IntervalFactors {
  Interval memory{};          ///< interval of the uncertain part of a card's bytes
  Interval load{};            ///< interval of the time to load
  Interval ttft{};            ///< interval of the first token, all weights on cards
  Interval tpot{};            ///< interval of a decode step, all weights on cards
  Interval offload{};         ///< interval of both with weights elsewhere: they wait for the same
                              ///< links
  Interval serving_ttft{};    ///< interval of the first token under load
  Interval serving_tpot{};    ///< interval of a token and of a whole request under load
  Interval serving_rate{};    ///< interval of the time of a number of requests under load
  std::string_view source{};  ///< source of the measured steps

  /// The interval of the fullest card's bytes, as factors on the expected ones.
  Interval used(const Estimate& estimate) const;
  TimeIntervals times(const Estimate& estimate) const;
  /// Interval with `running` concurrent requests. Every command takes it from here, so that one
  /// question has one interval.
  ServingIntervals serving(const Estimate& estimate, Size running) const;
  ServingIntervals serving(const Estimate& e) const { return serving(e, e.served.running); }
  /// The union of two intervals, as well measured as the worse of them.
  static Interval wider(const Interval& a, const Interval& b);
};

/// The terms of IntervalRules as numbers of one estimate.
struct IntervalNumbers {
  using Value = double;
  const IntervalFactors& factors;
  const Estimate& estimate;
  Size running;

  double factor(Factor of, IntervalPart part) const;
  double guess(Guess of, IntervalPart part) const;
  double first_least() const { return estimate.first_least / max_low_share; }
  double step_least() const { return estimate.step_least / max_low_share; }
  /// Share of an answer's time before its first token, and the whole.
  double first_share() const {
    const double share = estimate.ttft / estimate.total;
    return std::isfinite(share) ? share : 0;
  }
  static double one() { return 1; }
  bool on_cards() const { return estimate.verdict <= Verdict::fits_gpus; }
  bool first_unmeasured() const { return estimate.first_unmeasured; }
  bool step_unmeasured() const { return estimate.step_unmeasured; }
  bool either_unmeasured() const { return first_unmeasured() || step_unmeasured(); }
  bool single_request() const { return running == 1; }
  static double min(double a, double b) { return b < a ? b : a; }
  static double max(double a, double b) { return a < b ? b : a; }
  static double choose(bool condition, double yes, double no) { return condition ? yes : no; }
};

/// A host whose memory speed is known (`ram_stated`) has an interval of its own for weights outside
/// the cards, if anything was measured there.
IntervalFactors interval_factors(const Engine& runtime, bool ram_stated = false);
/// On a card that stands for one with no row of its own, times are less certain and not measured.
IntervalFactors interval_factors(const Engine& runtime, const Machine& machine);
inline IntervalFactors interval_factors(const Scenario& s) {
  return interval_factors(*s.runtime, *s.machine);
}
/// As total_time has it.
Seconds total_at(const Estimate& estimate, double ttft, double tpot);

}  // namespace headroom::model
