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

}  // namespace headroom::sweep
