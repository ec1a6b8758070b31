// The least of a function of one positive number, by a scan that finds the right valley and golden
// sections in its logarithm.
#pragma once

#include <algorithm>
#include <cmath>

namespace headroom::sweep {

/// The place of the least `cost` within [from, to], 0 < from < to; `before` where nothing is less.
template <class Cost>
double minimise(double from, double to, double before, Cost&& cost) {
  double low = std::log(from), high = std::log(to), middle = std::log(before);
  double least = cost(before);
  constexpr int steps = 16;
  for (int i = 0; i <= steps; ++i) {
    const double at = low + (high - low) * i / steps;
    if (const double c = cost(std::exp(at)); c < least) least = c, middle = at;
  }
  const double step = (high - low) / steps;
  low = std::max(low, middle - step);
  high = std::min(high, middle + step);
  constexpr double golden = 0.6180339887498949;
  double a = high - golden * (high - low), b = low + golden * (high - low);
  double at_a = cost(std::exp(a)), at_b = cost(std::exp(b));
  for (int i = 0; i < 18; ++i) {
    if (at_a < at_b) {
      high = b, b = a, at_b = at_a;
      a = high - golden * (high - low);
      at_a = cost(std::exp(a));
    } else {
      low = a, a = b, at_a = at_b;
      b = low + golden * (high - low);
      at_b = cost(std::exp(b));
    }
  }
  const double found = std::exp((low + high) / 2);
  return cost(found) < least ? found : std::exp(middle);
}

}  // namespace headroom::sweep
