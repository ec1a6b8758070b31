// The slowest requests of one copy, from what each finds when it arrives (model/infer/queue.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "model/infer/crossing.hpp"

namespace headroom::model {

/// Limits on the slowest requests and on the mean of all, seconds; infinite: none.
struct LateLimits {
  static constexpr double none = std::numeric_limits<double>::infinity();
  double ttft_p95 = none, tpot_p95 = none, total_p99 = none;
  double ttft = none, tpot = none;  ///< in the mean
  bool any() const {
    return ttft_p95 < none || tpot_p95 < none || total_p99 < none || ttft < none || tpot < none;
  }
};

/// Times of a request while a number of them is in the engine, seconds.
struct Crowd {
  double first = 0;  ///< request + prompt + step: the first token without a wait
  double ahead = 0;  ///< share of prompts that wait for others before them
  double wait = 0;   ///< mean of that wait, over all prompts
  double tpot = 0, total = 0;
};

/// A share of the requests with equal lengths.
struct LengthShare {
  double share = 1;
  double longer = 0;  ///< seconds of the prompt above the mean prompt's
  double output = 1;  ///< tokens
};

/// How long requests take, by what they find when they arrive.
struct Lateness {
  struct Found {
    double share = 0;
    double waits = 0;  ///< seconds for a slot
    Crowd in;          ///< in the engine
  };
  std::vector<Found> found;
  const std::vector<LengthShare>& lengths;
  double requests_s = 0, load = 0;

  /// Share of requests whose wait for prompts exceeds `seconds`.
  static double waits_longer(const Crowd& c, double seconds) {
    if (seconds < 0) return 1;
    return c.wait > 0 ? c.ahead * std::exp(-seconds * c.ahead / c.wait) : 0;
  }
  /// Shares of requests that take longer than `limit` seconds.
  double ttft(double limit) const {
    double late = 0;
    for (const Found& f : found)
      for (const LengthShare& l : lengths)
        late += f.share * l.share * waits_longer(f.in, limit - f.waits - f.in.first - l.longer);
    return late;
  }
  double tpot(double limit) const {
    double late = 0;
    for (const Found& f : found)
      if (f.in.tpot > limit) late += f.share;
    return late;
  }
  double total(double limit) const {
    double late = 0;
    for (const Found& f : found)
      for (const LengthShare& l : lengths)
        late += f.share * l.share *
                waits_longer(f.in,
                             limit - f.waits - f.in.first - l.longer - (l.output - 1) * f.in.tpot);
    return late;
  }
  /// The largest of how many are late over how many may be, and of mean over limit.
  double worst(const LateLimits& limits) const {
    double worst = 0;
    const auto take = [&](double limit, const auto& times) {
      if (limit < LateLimits::none) worst = std::max(worst, times(limit));
    };
    take(limits.ttft_p95, [&](double limit) { return ttft(limit) / 0.05; });
    take(limits.tpot_p95, [&](double limit) { return tpot(limit) / 0.05; });
    take(limits.total_p99, [&](double limit) { return total(limit) / 0.01; });
    take(limits.ttft, [&](double limit) { return mean_ttft() / limit; });
    take(limits.tpot, [&](double limit) { return mean_tpot() / limit; });
    return worst;
  }
  bool meets(const LateLimits& limits) const { return worst(limits) <= 1; }
  double mean_ttft() const {
    return mean([](const Found& f) { return f.waits + f.in.first + f.in.wait; });
  }
  double mean_tpot() const {
    return mean([](const Found& f) { return f.in.tpot; });
  }
  double mean_total() const {
    return mean([](const Found& f) { return f.waits + f.in.total; });
  }
  template <class Of>
  double mean(const Of& of) const {
    double sum = 0;
    for (const Found& f : found) sum += f.share * of(f);
    return sum;
  }
  double ttft_p95() const {
    return exceeded_by(0.05, mean_ttft(), [&](double t) { return ttft(t); });
  }
  double tpot_p95() const {
    return exceeded_by(0.05, mean_tpot(), [&](double t) { return tpot(t); });
  }
  double total_p99() const {
    return exceeded_by(0.01, mean_total(), [&](double t) { return total(t); });
  }

 private:
  /// The time that a share `late` of requests exceeds, at least `mean`: a mean that few long waits
  /// make may be longer.
  template <class Late>
  static double exceeded_by(double late, double mean, const Late& share) {
    const auto at = [&](double time) { return Excess{time, late - share(time)}; };
    const Excess low = at(mean);
    if (low.above >= 0) return mean;
    Excess high = at(std::max(mean, 1e-9));
    while (high.above < 0) high = at(2 * high.x);
    return high.above > 0 ? halved(low, high, 30, at).after : high.x;
  }
};

}  // namespace headroom::model
