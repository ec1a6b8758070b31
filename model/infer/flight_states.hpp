// Numbers of requests in flight, and how often each is found (model/infer/queue.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace headroom::model {

/// Requests in flight before one arrives, and how often.
struct FlightState {
  double number = 0, share = 0;
};

/// Shares that add up to 1. Sums stay finite while they are made.
class FlightShares {
 public:
  void add(double number) {
    all_.push_back({number, next_});
    sum_ += next_;
    if (sum_ < 1e200) return;
    for (FlightState& each : all_) each.share /= sum_;
    next_ /= sum_;
    sum_ = 1;
  }
  void times(double ratio) { next_ *= ratio; }
  bool ends() const { return next_ < negligible * sum_ || all_.size() >= max_states; }
  std::vector<FlightState> done() {
    for (FlightState& each : all_) each.share /= sum_;
    return std::move(all_);
  }

 private:
  static constexpr double negligible = 1e-10;
  static constexpr std::size_t max_states = 4'000'000;

  std::vector<FlightState> all_;
  double next_ = 1, sum_ = 0;
};

/// Neighbours together, finer towards the largest numbers, whose requests are the slowest.
inline std::vector<FlightState> joined(const std::vector<FlightState>& all) {
  constexpr double most = 0.02, part = 0.1;
  std::vector<FlightState> few;
  FlightState group;
  double left = 1;
  for (const FlightState& each : all) {
    group.number += each.number * each.share;
    group.share += each.share;
    if (group.share < std::min(most, part * left) && &each != &all.back()) continue;
    left -= group.share;
    if (group.share > 0) few.push_back({group.number / group.share, group.share});
    group = {};
  }
  return few;
}

}  // namespace headroom::model
