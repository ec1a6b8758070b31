#include "model/infer/demand.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hardware/units.hpp"
#include "model/infer/scenario/usual_context.hpp"

namespace headroom::model {
namespace {

/// The worst that means and the slowest requests miss. Slowest requests without a limit are not
/// asked for: a search finds each of them.
Shortfall too_late(const std::optional<Lateness>& late, const LateLimits& limits) {
  Shortfall worst;
  const auto take = [&](Miss miss, double limit, auto found) {
    if (limit < LateLimits::none)
      take_worse(worst, miss, late ? (*late.*found)() : LateLimits::none, limit);
  };
  take(Miss::ttft, limits.ttft, &Lateness::mean_ttft);
  take(Miss::tpot, limits.tpot, &Lateness::mean_tpot);
  take(Miss::ttft_p95, limits.ttft_p95, &Lateness::ttft_p95);
  take(Miss::tpot_p95, limits.tpot_p95, &Lateness::tpot_p95);
  take(Miss::total_p99, limits.total_p99, &Lateness::total_p99);
  return worst;
}

Queue queue_of(const Scenario& s, Size slots, const Service& seen, const Target& target) {
  return target.strict ? Queue(s, slots, seen.first.high, seen.step.high) : Queue(s, slots);
}

bool is_of_tokens(Miss miss) { return miss == Miss::tpot || miss == Miss::tpot_p95; }

/// Limits of requests that arrive at random. Their means too depend on how they queue.
LateLimits limits_of(const Target& target) {
  LateLimits limits = target.late;
  if (target.ttft) limits.ttft = target.ttft->value();
  if (const auto tpot = target.tpot_limit(max_sequences)) limits.tpot = tpot->value();
  return limits;
}

}  // namespace

bool Shortfall::runs() const {
  const auto fails = {Miss::refused, Miss::memory,    Miss::not_sure,
                      Miss::offload, Miss::positions, Miss::sequences};
  return std::ranges::find(fails, miss) == fails.end();
}

bool is_closer(const Shortfall& a, const Shortfall& b) {
  return a.runs() != b.runs() ? a.runs() : a.times < b.times;
}

void take_worse(Shortfall& worst, Miss miss, double found, double limit) {
  const double times = found / limit;
  if (times > 1 && (worst.met() || times > worst.times)) worst = {miss, times};
}

Shortfall too_late(const Scenario& s, const Service& seen, const Target& target) {
  Queue queue = queue_of(s, s.batch, seen, target);
  return too_late(queue.lateness({.users = static_cast<double>(s.batch)}), target.late);
}

void give(Serving& serving, const Scenario& s, const Target& target) {
  double cap = target.load_factor * counted_on(serving.service, target);
  serving.users_each = serving.batch;
  serving.requests_s_each = cap;
  if (!target.at_random()) return;
  Queue queue = queue_of(s, serving.batch, serving.service, target);
  cap = std::min(cap, target.load_factor * queue.capacity());
  const LateLimits limits = limits_of(target);
  Arrivals more{.requests_s = cap, .burstiness = target.burstiness};
  if (target.think > 0) {
    serving.users_each = queue.most_users(limits, cap, target.think, max_sequences);
    more = {.users = static_cast<double>(serving.users_each + 1), .think = target.think};
    serving.requests_s_each =
        serving.users_each > 0
            ? queue.rate_of(static_cast<double>(serving.users_each), target.think)
            : 0;
  } else {
    serving.requests_s_each = queue.most_requests(limits, cap, target.burstiness);
    more.requests_s = std::max(cap / 1e6, 1.01 * serving.requests_s_each);
  }
  serving.next = limits.any() ? too_late(queue.lateness(more), limits) : Shortfall{};
  if (serving.requests_s_each <= 0) serving.replicas = 0;
  if (serving.next.met() || serving.requests_s_each == cap) serving.next = {Miss::load, 1};
}

Serving started(Serving copy, const Scenario& chosen, const Target& target) {
  copy.batch = chosen.batch;
  copy.context = chosen.cached_tokens();
  copy.estimate = evaluate(chosen);
  copy.service = service_of(chosen, copy.estimate);
  give(copy, chosen, target);
  return copy;
}

Serving best_slots(const Serving& copy, Scenario s, const Serving& most, const Target& target) {
  const auto given = [](const Serving& each) {
    return each.replicas > 0 ? std::pair(each.requests_s_each, each.users_each)
                             : std::pair(0.0, Size{0});
  };
  const auto with_slots = [&](Size slots) {
    set_batch(s, slots);
    return started(copy, s, target);
  };
  const Size all = most.batch;
  const bool tokens_bind = is_of_tokens(most.next.miss);
  Serving best = most;
  const auto take = [&](const Serving& each) {
    if (given(each) > given(best)) best = each;
  };
  Serving last = most;
  while (last.batch > 1 && (is_of_tokens(last.next.miss) || target.offload))
    take(last = with_slots(last.batch / 2));
  if (!target.tpot_limit(all) || !tokens_bind) return best;
  Target always = target;
  always.requests_s = always.output_tokens_s = always.think = 0;
  always.late = {};
  always.ttft.reset();
  const Size in_time = largest(all, [&](Size slots) {
    set_batch(s, slots);
    return shortfall(s, evaluate(s), always).met();
  });
  if (in_time > 0) take(with_slots(in_time));
  return best;
}

double sustained_requests(const Scenario& s, Size slots, double capacity) {
  constexpr double micro = 1e-6, thousandth = 1e-3;
  const auto limit = [](Size microseconds) {
    return microseconds > 0 ? micro * static_cast<double>(microseconds) : LateLimits::none;
  };
  const auto share = [](Size thousandths, double usual) {
    return thousandths > 0 ? thousandth * static_cast<double>(thousandths) : usual;
  };
  const LateLimits limits{limit(s.max_ttft_p95), limit(s.max_tpot_p95), limit(s.max_total_p99)};
  Scenario copy = s;
  copy.batch = slots;
  copy.concurrency = 0;
  Queue queue(copy, slots);
  const double cap = share(s.load_factor, usual_load_factor) * std::min(capacity, queue.capacity());
  return queue.most_requests(limits, cap, share(s.burstiness, 1));
}

double counted_on(const Service& service, const Target& target) {
  return service.requests_s / (target.strict ? service.time.high : 1);
}

namespace {

/// Requests a second that are asked for; 0: none are, by rate.
double asked_rate(const Scenario& s, const Target& target) {
  return std::max(target.requests_s, target.output_tokens_s / static_cast<double>(s.output_tokens));
}

InFlight in_flight(const Scenario& s, const Serving& serving, const Target& target, double copies) {
  Queue queue = queue_of(s, serving.batch, serving.service, target);
  if (const double rate = asked_rate(s, target); rate > 0)
    return queue.at({.requests_s = rate / copies, .burstiness = target.burstiness});
  const double users = target.users > 0 ? static_cast<double>(target.users) / copies
                                        : static_cast<double>(serving.users_each);
  return queue.at({.users = std::max(1.0, users), .think = target.think});
}

}  // namespace

AtDemand at_demand_on(const Scenario& copy, const Serving& serving, const Target& target,
                      Size copies) {
  AtDemand at;
  Scenario s = copy;
  set_batch(s, serving.batch);
  const auto all = static_cast<double>(copies);
  if (target.at_random() || target.late.any()) at.slowest = in_flight(s, serving, target, all);
  at.requests = target.at_random()
                    ? std::clamp<Size>(std::llround(at.slowest->requests), 1, serving.batch)
                    : divided_up(target.users, copies);
  if (at.requests == 0) return at;
  set_batch(s, at.requests);
  at.service = service_of(s, evaluate(s));
  at.requests_s =
      at.service.requests_s * static_cast<double>(target.users) / static_cast<double>(at.requests);
  if (!target.at_random()) return at;
  // Means are the expected ones, with intervals of their own.
  Target expected = target;
  expected.strict = false;
  set_batch(s, serving.batch);
  const InFlight mean = target.strict ? in_flight(s, serving, expected, all) : *at.slowest;
  at.service.ttft = mean.ttft;
  at.service.tpot = mean.tpot;
  at.service.total = mean.total;
  at.service.requests_s = mean.requests_s;
  const double rate = asked_rate(copy, target);
  at.requests_s = rate > 0 ? rate : all * mean.requests_s;
  return at;
}

AtDemand at_demand(const Scenario& scenario, const Serving& serving, const Target& target,
                   Size copies) {
  const MachineShare share = share_of(*scenario.machine, serving);
  return at_demand_on(on(scenario, share), serving, target, copies);
}

double copies_needed(const Serving& serving, const Scenario& scenario, const Target& target) {
  return std::max({static_cast<double>(target.users) / static_cast<double>(serving.users_each),
                   target.requests_s / serving.requests_s_each,
                   target.output_tokens_s /
                       (serving.requests_s_each * static_cast<double>(scenario.output_tokens))});
}

Size machines_needed(const Serving& serving, const Scenario& scenario, const Target& target) {
  if (serving.replicas == 0) return 0;
  const double copies = copies_needed(serving, scenario, target);
  return static_cast<Size>(
      std::ceil(std::max(1.0, copies / static_cast<double>(serving.replicas))));
}

}  // namespace headroom::model
