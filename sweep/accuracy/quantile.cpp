#include "sweep/accuracy/quantile.hpp"

#include <algorithm>
#include <cstddef>

namespace headroom::sweep {

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const double next = values[std::min(below + 1, values.size() - 1)];
  return values[below] + (at - static_cast<double>(below)) * (next - values[below]);
}

double quantile(std::vector<Weighed> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values, {}, &Weighed::value);
  double all = 0, below = 0;
  for (const Weighed& each : values) all += each.weight;
  const Weighed* last = nullptr;
  double last_at = 0;
  for (const Weighed& each : values) {
    const double at = (below + each.weight / 2) / all;
    if (at >= share)
      return last == nullptr
                 ? each.value
                 : last->value + (share - last_at) / (at - last_at) * (each.value - last->value);
    last = &each, last_at = at;
    below += each.weight;
  }
  return values.back().value;
}

}  // namespace headroom::sweep
