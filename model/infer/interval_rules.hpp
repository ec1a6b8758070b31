// The rules that choose the interval of a time, written once for every kind of value. Terms supply
// the values: numbers of one Estimate (intervals.hpp), or SQL over the stored columns (report/).
#pragma once

namespace headroom::model {

/// An end of an interval, or the number of measured rows behind it.
enum class IntervalPart { low, high, measurements };
/// A rate has its low end where its time has the high one.
constexpr IntervalPart opposite(IntervalPart end) {
  return end == IntervalPart::low ? IntervalPart::high : IntervalPart::low;
}

/// The intervals of an engine: members of IntervalFactors.
enum class Factor { memory, load, ttft, tpot, offload, serving_ttft, serving_tpot, serving_rate };
/// The least width of an interval without measurements.
enum class Guess { first, step };

/// The time of a whole answer whose first token takes `first` times what is expected, and whose
/// later tokens take `step` times.
template <class Factor, class Time>
auto total_time(const Factor& first, const Factor& step, const Time& ttft, const Time& total) {
  return first * ttft + step * (total - ttft);
}

/// One part of each interval. `Terms` has a type Value, values (factor, guess, first_least,
/// step_least, first_share, one), conditions (on_cards, first_unmeasured, step_unmeasured,
/// either_unmeasured, single_request) and the operations min, max and choose.
template <class Terms>
struct IntervalRules {
  const Terms& of;
  IntervalPart part;

  auto first() const {
    return passes(measured(of.first_unmeasured(), Factor::ttft, Guess::first), of.first_least());
  }
  auto step() const {
    return passes(measured(of.step_unmeasured(), Factor::tpot, Guess::step), of.step_least());
  }
  /// Interval of a whole answer, as total_time() adds it up.
  auto answer() const {
    return part == IntervalPart::measurements
               ? of.min(first(), step())
               : total_time(first(), step(), of.first_share(), of.one());
  }
  /// One request alone has the intervals of its passes, whoever asks.
  auto served_first() const {
    return of.choose(of.single_request(), first(),
                     measured(of.either_unmeasured(), Factor::serving_ttft, Guess::first));
  }
  auto served_step() const {
    return of.choose(of.single_request(), step(),
                     measured(of.step_unmeasured(), Factor::serving_tpot, Guess::step));
  }
  /// Interval of the time of a number of requests.
  auto served_rate() const {
    return of.choose(of.single_request(), answer(),
                     measured(of.either_unmeasured(), Factor::serving_rate, Guess::first));
  }

 private:
  using Value = typename Terms::Value;
  Value wider(const Value& a, const Value& b) const {
    return part == IntervalPart::high ? of.max(a, b) : of.min(a, b);
  }
  /// Cards that were not measured with such weights: at least as wide as the guess, and as
  /// unmeasured.
  template <class Condition>
  Value measured(const Condition& unmeasured, Factor factor, Guess guess) const {
    const Value known = of.factor(factor, part);
    return of.choose(unmeasured, wider(known, of.guess(guess, part)), known);
  }
  /// Weights outside the cards have one interval for both times. No low end is below the share
  /// that the cards take at their data sheets' rates.
  Value passes(const Value& on_cards, const Value& least) const {
    const Value chosen = of.choose(of.on_cards(), on_cards, of.factor(Factor::offload, part));
    return part == IntervalPart::low ? of.max(chosen, least) : chosen;
  }
};

}  // namespace headroom::model
