#include "model/infer/queue.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/infer/crossing.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/memory/activation.hpp"
#include "model/infer/placement/asked_sequences.hpp"
#include "model/infer/service.hpp"
#include "model/infer/serving.hpp"

namespace headroom::model {
namespace {

constexpr double least_stride = 0.1;
constexpr double max_line_load = 0.99;  ///< load of the line of prompts
constexpr int max_rounds = 8;
constexpr double densest = 1.15;  ///< between numbers of requests at which passes are measured

std::vector<Size> numbers_up_to(Size slots) {
  std::vector<Size> all;
  for (Size n = 1; n < slots;
       n = std::max(n + 1, static_cast<Size>(std::llround(densest * static_cast<double>(n)))))
    all.push_back(n);
  all.push_back(slots);
  return all;
}

/// As the engine is started for so many at once. Its batch is that of `s`.
Scenario started_for(Scenario s, Size slots, const Setup& setup) {
  const Size batch = std::exchange(s.batch, slots);
  s = as_started(s, setup);
  s.batch = batch;
  return s;
}

}  // namespace

double Queue::Stream::mates(double seconds) const {
  if (gaps <= 1) return 0;
  const double shape = 1 / gaps, gap = shape * requests_s * seconds;
  return std::min((gaps - 1) / 2, std::pow(gap, shape) / std::tgamma(1 + shape));
}

Queue::Queue(const Scenario& scenario, Size slots, double first, double step)
    : block_(scenario),
      scenario_(started_for(scenario, slots, block_.setup)),
      prompts_(lengths_of(scenario.prompt_tokens, scenario.prompt_tokens_p95)),
      outputs_(lengths_of(scenario.output_tokens, scenario.output_tokens_p95)),
      first_(first),
      step_(step) {
  Scenario one = scenario_;
  one.batch = 1;
  continuous_ = batches_continuously(one, evaluate(one));
  output_tokens_ = static_cast<double>(whole_tokens(outputs_.mean()));
  prompt_spread_ = prompts_.variance_share();
  std::optional<Passes> full;
  Size most = 1;
  if (continuous_) {
    Scenario all = scenario_;
    all.batch = slots;
    const Pace pace(all, prompts_, outputs_, block_);
    most = std::max<Size>(1, pace.running);
    if (pace.running == most) full = of_pace(pace);
    if (pace.running == slots && scenario_.runtime->parallel.split == Split::tensors)
      division_ = pace.plan();
  }
  numbers_ = numbers_up_to(most);
  measured_.resize(numbers_.size());
  measured_.back() = full;
  if (prompts_.p95 <= prompts_.p50 && outputs_.p95 <= outputs_.p50) {
    lengths_ = {{1, 0, output_tokens_}};
    return;
  }
  const Pace pace(one, prompts_, outputs_, block_);
  constexpr double width = 0.25;
  double all = 0;
  for (double z = -2.5; z <= 3.5; z += width) {
    const double share = std::exp(-z * z / 2);
    const double longer = pace.running > 0 ? pace.prompt_of(prompts_.at(z)) - pace.prompt : 0;
    lengths_.push_back({share, first_ * longer, outputs_.at(z)});
    all += share;
  }
  for (LengthShare& l : lengths_) l.share /= all;
}

const Queue::Passes& Queue::measured(std::size_t index) {
  std::optional<Passes>& slot = measured_[index];
  if (slot) return *slot;
  Scenario s = scenario_;
  s.batch = numbers_[index];
  if (!continuous_) {
    const Estimate e = evaluate(s);
    const double step = (e.total - e.ttft).value() / std::max(1.0, output_tokens_ - 1);
    const double first = first_ * e.ttft.value();
    return slot.emplace(Passes{first, step_ * step, 0, 0, 0, 0});
  }
  const Plan* fitted = division_ ? &*division_ : nullptr;
  return slot.emplace(of_pace(Pace(s, prompts_, outputs_, block_, fitted)));
}

Queue::Passes Queue::of_pace(const Pace& pace) const {
  const auto stages = static_cast<double>(pace.stages);
  const auto chunk = static_cast<double>(prefill_chunk(scenario_));
  const double passes = chunk > 0 ? static_cast<double>(pace.prompt_tokens) / chunk : 1;
  const double line =
      scenario_.runtime->serving.separate_prefill ? pace.another : pace.delay + passes * pace.step;
  return {first_ * (pace.request + pace.prompt + pace.step),
          step_ * pace.step,
          step_ * pace.delay / stages,
          first_ * pace.another / stages,
          first_ * line / stages,
          first_ * pace.waits};
}

Queue::Passes Queue::passes(double number) {
  const double n = std::clamp(number, 1.0, slots());
  if (n != std::floor(n)) return interpolated(n);
  const auto index = static_cast<std::size_t>(n);
  if (index >= whole_.size()) whole_.resize(index + 1);
  Passes& known = whole_[index];
  if (known.first == 0) known = interpolated(n);
  return known;
}

Queue::Passes Queue::interpolated(double n) {
  const auto next = std::ranges::lower_bound(numbers_, n, {},
                                             [](Size each) { return static_cast<double>(each); });
  const auto high = static_cast<std::size_t>(next - numbers_.begin());
  const Passes& b = measured(high);
  if (high == 0) return b;
  const Passes& a = measured(high - 1);
  const auto from = static_cast<double>(numbers_[high - 1]);
  const double t = (n - from) / (static_cast<double>(numbers_[high]) - from);
  return {std::lerp(a.first, b.first, t), std::lerp(a.step, b.step, t),
          std::lerp(a.delay, b.delay, t), std::lerp(a.another, b.another, t),
          std::lerp(a.line, b.line, t),   std::lerp(a.waits, b.waits, t)};
}

Crowd Queue::crowd(double number, const Stream& stream) {
  const Passes p = passes(number);
  const double n = std::max(1.0, number), others = n - 1, tokens = output_tokens_ - 1;
  const double stay = std::max(tokens * p.step + others * p.delay, n * p.another - p.first);
  const double load = std::min(max_line_load, stream.requests_s * p.line);
  const double spread = std::min(1.0, stream.gaps) + prompt_spread_;
  const double mates = stream.mates(p.line / (1 - load));
  const double wait = p.line * (load * spread / 2 + mates) / (1 - load);
  Crowd c;
  c.first = p.first;
  c.wait = std::min(wait, stream.ahead * p.line);
  c.ahead = 1 - (1 - load) / (1 + mates);
  if (stream.in_step) {
    c.wait = p.waits;
    c.ahead = 1;
  }
  c.tpot = tokens > 0 ? stay / tokens : p.step + others * p.delay;
  c.total = c.first + c.wait + stay;
  return c;
}

double Queue::deaths(double number, const Stream& stream) {
  const Crowd c = crowd(std::min(number, slots()), stream);
  // With every slot at work, prompts come as answers leave, and hardly one waits for others.
  return number < slots() ? number / c.total : slots() / (c.total - c.wait);
}

double Queue::capacity() { return deaths(slots(), {}); }

double Queue::variation(const Stream& stream) {
  const Crowd c = crowd(slots(), stream);
  const double output = (output_tokens_ - 1) * c.tpot / c.total, prompt = c.first / c.total;
  return output * output * outputs_.variance_share() + prompt * prompt * prompt_spread_;
}

std::vector<FlightState> Queue::of_rate(Stream& stream) {
  const double times = variation(stream);
  stream.mates_in_flight = stream.mates(crowd(slots(), stream).total);
  const double bunched = stream.gaps > 1 ? 2 * stream.mates_in_flight : stream.gaps - 1;
  const double most = deaths(slots(), stream);
  const double stride = std::max(least_stride, 1 + bunched / (1 + std::min(1.0, times)));
  stream.line = (stream.gaps + times) / 2 / stride;
  FlightShares shares;
  double n = 0, ratio = 1;
  do {
    shares.add(n);
    n += stride;
    ratio = stream.requests_s / (n < slots() ? deaths(n, stream) : most);
    shares.times(ratio);
  } while (ratio >= 1 || !shares.ends());
  return shares.done();
}

std::vector<FlightState> Queue::of_users(const Arrivals& a, const Stream& stream) {
  const double others = std::max(0.0, a.users - 1);
  if (a.think <= 0) return {{others, 1}};
  const double most = deaths(slots(), stream);
  FlightShares shares;
  for (double n = 0; n <= others; ++n) {
    shares.add(n);
    shares.times((others - n) / a.think / (n + 1 < slots() ? deaths(n + 1, stream) : most));
  }
  return shares.done();
}

Lateness Queue::found(const std::vector<FlightState>& states, const Stream& stream) {
  const double most = deaths(slots(), stream);
  const Crowd full = crowd(slots(), stream);
  Lateness late{{}, lengths_, stream.requests_s, stream.requests_s / most};
  for (const FlightState& each : joined(states)) {
    const double number = each.number + 1 + stream.mates_in_flight;
    const double waits = stream.line * std::max(0.0, number - slots()) / most;
    late.found.push_back({each.share, waits, number < slots() ? crowd(number, stream) : full});
  }
  return late;
}

std::optional<Lateness> Queue::lateness(const Arrivals& a) {
  if (a.requests_s > 0) {
    Stream stream{.requests_s = a.requests_s, .gaps = 1 / a.burstiness};
    if (a.requests_s >= std::min(capacity(), deaths(slots(), stream))) return std::nullopt;
    const auto states = of_rate(stream);
    return found(states, stream);
  }
  // Prompts come as often as people ask, which depends on how long answers take.
  Stream stream{.ahead = std::max(0.0, a.users - 1)};
  stream.in_step = a.think <= 0;
  stream.requests_s = a.users / (a.think + crowd(1, stream).total);
  std::optional<Lateness> late;
  double before = 0, excess_before = 0;
  for (int i = 0; i < max_rounds; ++i) {
    late.emplace(found(of_users(a, stream), stream));
    const double now = stream.requests_s, excess = now - a.users / (a.think + late->mean_total());
    if (std::abs(excess) < 1e-6 * now) break;
    // More requests take longer, so that the excess rises with them: a secant finds its root.
    stream.requests_s =
        i == 0 ? now - excess : now - excess * (now - before) / (excess - excess_before);
    before = now;
    excess_before = excess;
  }
  return late;
}

double Queue::rate_of(double users, double think) {
  return lateness({.users = users, .think = think})->requests_s;
}

bool Queue::meets(const LateLimits& limits, const Arrivals& arrivals) {
  const auto late = lateness(arrivals);
  return late && late->meets(limits);
}

InFlight Queue::at(const Arrivals& arrivals) {
  const auto late = lateness(arrivals);
  const Seconds never(LateLimits::none);
  if (!late) {
    const double load = arrivals.requests_s / capacity();
    return {arrivals.requests_s, load, LateLimits::none, never, never, never, never, never, never};
  }
  const double total = late->mean_total();
  return {late->requests_s,           late->load,
          late->requests_s * total,   Seconds(late->mean_ttft()),
          Seconds(late->mean_tpot()), Seconds(total),
          Seconds(late->ttft_p95()),  Seconds(late->tpot_p95()),
          Seconds(late->total_p99())};
}

double Queue::most_requests(const LateLimits& limits, double cap, double burstiness) {
  // From -1 to 1 as times of the limits go from none to any number.
  const auto at = [&](double rate) {
    const auto late = lateness({rate, burstiness, 0, 0});
    return Excess{rate, late ? 1 - 2 / (1 + late->worst(limits)) : 1};
  };
  const Excess most = at(cap);
  if (most.above <= 0) return cap;
  const Excess few = at(cap / 1e6);
  return few.above <= 0 ? halved(few, most, 24, at).before : 0;
}

Size Queue::most_users(const LateLimits& limits, double cap, double think, Size most) {
  return largest(most, [&](Size users) {
    const auto late = lateness({0, 1, static_cast<double>(users), think});
    return late->requests_s <= cap && late->meets(limits);
  });
}

}  // namespace headroom::model
