// The smallest allocation within 5 % of the best, and what memory buys on either side of it.
#include "report/knee.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::report {
namespace {

bool runs(double speed) { return std::isfinite(speed) && speed > 0; }

}  // namespace

std::optional<Knee> find_knee(std::span<const double> allocations, std::span<const double> speeds,
                              End end) {
  std::size_t first = speeds.size(), last = 0;
  double best = 0;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    if (!runs(speeds[i])) continue;
    first = std::min(first, i);
    last = i;
    best = std::max(best, speeds[i]);
  }
  if (best == 0) return std::nullopt;
  std::size_t at = first;
  while (!runs(speeds[at]) || speeds[at] < knee_share * best) ++at;
  if (at + 1 == speeds.size() && end == End::open) return std::nullopt;
  const auto gain = [&](std::size_t from, std::size_t to) {
    const double step = allocations[to] - allocations[from];
    return step > 0 ? (speeds[to] - speeds[from]) / step : 0;
  };
  return Knee{at, gain(first, at), gain(at, std::max(at, last))};
}

std::optional<std::size_t> returns_diminished(std::span<const double> allocations,
                                              std::span<const double> speeds) {
  double best = 0;
  for (const double speed : speeds)
    if (runs(speed)) best = std::max(best, speed);
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    if (!runs(speeds[i])) continue;
    bool little = true;
    for (std::size_t j = i + 1; j < speeds.size() && little; ++j) {
      const double units = std::max(1.0, allocations[j] - allocations[i]);
      little = !runs(speeds[j]) || (speeds[j] - speeds[i]) / units <= little_share * best;
    }
    if (little) return i;
  }
  return std::nullopt;
}

}  // namespace headroom::report
