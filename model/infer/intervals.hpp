// 80 % intervals of an estimate, as factors on expected values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {

/// An 80 % interval as factors on the expected value, from the residuals of measured rows. With no
/// measurements they are stated guesses, and nothing is ever sure.
struct Interval {
  constexpr Interval() = default;
  constexpr Interval(double low_end, double high_end, int rows)
      : low(low_end), high(high_end), measurements(rows) {}
  explicit Interval(const Constant& c) : Interval(c.low, c.high, c.measurements) {}

  double low = 1, high = 1;
  int measurements = 0;
};
/// Of a first token and of a decode step where nothing was measured.
inline constexpr Interval unmeasured_first{0.4, 2.5, 0}, unmeasured_step{0.5, 2.0, 0};

/// Estimate::first_least and step_least of a time that cannot be shorter.
inline constexpr double most_least = 127;

/// Of one scenario's times: each kind has residuals of its own.
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
  Interval memory{};          ///< of the use of a card
  Interval load{};            ///< of the time to load
  Interval ttft{};            ///< of the first token, all weights on cards
  Interval tpot{};            ///< of a decode step, all weights on cards
  Interval offload{};         ///< of both, weights elsewhere: they wait for the same links
  Interval serving_ttft{};    ///< of the first token under load
  Interval serving_tpot{};    ///< of a token and of a whole request under load
  Interval serving_rate{};    ///< of the time that a number of requests takes under load
  std::string_view source{};  ///< of the measured steps

  /// On cards that were not measured with such weights: at least as wide as of an engine of which
  /// nothing was, and as unmeasured.
  TimeIntervals times(const Estimate& e) const {
    const bool on_cards = e.verdict <= Verdict::fits_gpus;
    const Interval first = e.first_unmeasured ? wider(ttft, unmeasured_first) : ttft;
    const Interval step = e.step_unmeasured ? wider(tpot, unmeasured_step) : tpot;
    return {load, from(e.first_least, on_cards ? first : offload),
            from(e.step_least, on_cards ? step : offload)};
  }
  /// With so many `running` at once. One alone takes what its passes take: its intervals are no
  /// narrower than theirs.
  ServingIntervals serving(const Estimate& e, Size running) const {
    const bool either = e.first_unmeasured || e.step_unmeasured;
    const ServingIntervals loaded{
        either ? wider(serving_ttft, unmeasured_first) : serving_ttft,
        e.step_unmeasured ? wider(serving_tpot, unmeasured_step) : serving_tpot,
        either ? wider(serving_rate, unmeasured_first) : serving_rate};
    if (running != 1) return loaded;
    const TimeIntervals alone = times(e);
    return {wider(loaded.ttft, alone.ttft), wider(loaded.tpot, alone.tpot),
            wider(loaded.rate, alone.tpot)};
  }
  ServingIntervals serving(const Estimate& e) const { return serving(e, e.served.running); }
  static Interval from(std::uint8_t least, Interval of) {
    of.low = std::max(of.low, least / most_least);
    return of;
  }
  static Interval wider(const Interval& a, const Interval& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high),
            std::min(a.measurements, b.measurements)};
  }
};
/// Where it is known how fast the host's memory is (`ram_stated`) what waits for it has an interval
/// of its own, if anything was measured there.
IntervalFactors interval_factors(const Engine& runtime, bool ram_stated = false);
IntervalFactors interval_factors(const Scenario& scenario);
/// The time of the whole answer when its first token takes `ttft` times what is expected, and the
/// steps after it `tpot` times.
Seconds total_at(const Estimate& estimate, double ttft, double tpot);

}  // namespace headroom::model
