#include "model/infer/intervals.hpp"

#include <algorithm>

namespace headroom::model {
namespace {

double part_of(const Interval& interval, IntervalPart part) {
  switch (part) {
    case IntervalPart::low:
      return interval.low;
    case IntervalPart::high:
      return interval.high;
    default:
      return interval.measurements;
  }
}

template <class Rule>
Interval all_parts(const IntervalNumbers& of, Rule rule) {
  const auto part = [&](IntervalPart which) {
    return rule(IntervalRules<IntervalNumbers>{of, which});
  };
  return {part(IntervalPart::low), part(IntervalPart::high),
          static_cast<int>(part(IntervalPart::measurements))};
}

}  // namespace

double IntervalNumbers::factor(Factor of, IntervalPart part) const {
  constexpr Interval IntervalFactors::*members[] = {
      &IntervalFactors::memory,       &IntervalFactors::load,        &IntervalFactors::ttft,
      &IntervalFactors::tpot,         &IntervalFactors::offload,     &IntervalFactors::serving_ttft,
      &IntervalFactors::serving_tpot, &IntervalFactors::serving_rate};
  return part_of(factors.*members[static_cast<int>(of)], part);
}

double IntervalNumbers::guess(Guess of, IntervalPart part) const {
  return part_of(of == Guess::first ? unmeasured_first : unmeasured_step, part);
}

Interval IntervalFactors::wider(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high),
          std::min(a.measurements, b.measurements)};
}

TimeIntervals IntervalFactors::times(const Estimate& e) const {
  const IntervalNumbers of{*this, e, 0};
  return {load, all_parts(of, [](const auto& rules) { return rules.first(); }),
          all_parts(of, [](const auto& rules) { return rules.step(); })};
}

ServingIntervals IntervalFactors::serving(const Estimate& e, Size running) const {
  const IntervalNumbers of{*this, e, running};
  return {all_parts(of, [](const auto& rules) { return rules.served_first(); }),
          all_parts(of, [](const auto& rules) { return rules.served_step(); }),
          all_parts(of, [](const auto& rules) { return rules.served_rate(); })};
}

Interval IntervalFactors::used(const Estimate& e) const {
  if (e.gpu_bytes <= Bytes(0)) return {1, 1, memory.measurements};
  return {e.gpu_bytes_low.real() / e.gpu_bytes.real(), e.gpu_bytes_high.real() / e.gpu_bytes.real(),
          memory.measurements};
}

IntervalFactors interval_factors(const Engine& r, bool ram_stated) {
  const bool known = ram_stated && r.offload.ram_stated_interval.value > 0;
  return {Interval(r.memory.interval),
          Interval(r.weights.load_interval),
          Interval(r.kernels.prefill_interval),
          Interval(r.kernels.decode_interval),
          Interval(known ? r.offload.ram_stated_interval : r.offload.interval),
          Interval(r.serving.first_token_interval),
          Interval(r.serving.serving_interval),
          Interval(r.serving.throughput_interval),
          r.kernels.decode_interval.source};
}
IntervalFactors interval_factors(const Engine& runtime, const Machine& machine) {
  IntervalFactors f = interval_factors(runtime, !machine.ram_assumed);
  if (const auto& card = machine.card_assumed)
    for (Interval* each :
         {&f.ttft, &f.tpot, &f.offload, &f.serving_ttft, &f.serving_tpot, &f.serving_rate})
      *each = {each->low * card->low, each->high * card->high, 0};
  return f;
}

Seconds total_at(const Estimate& e, double ttft, double tpot) {
  return total_time(ttft, tpot, e.ttft, e.total);
}

}  // namespace headroom::model
