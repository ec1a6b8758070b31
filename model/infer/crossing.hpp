// Where a rising function crosses 0.
#pragma once

#include <algorithm>
#include <cmath>

namespace headroom::model {

/// An x, and how far a function is above 0 there.
struct Excess {
  double x = 0, above = 0;
};
struct Crossing {
  double before = 0, after = 0;
};

/// Two x at most `width` apart, `above(before) <= 0 < above(after)`, between `low` and `high`, of
/// which the same holds. Both are finite there.
///
/// The ITP method (Oliveira and Takahashi, ACM Transactions on Mathematical Software 47, 2020): few
/// steps where the function is smooth, and at most two more than halving takes, one of them by
/// rounding. `reach` is half the widest interval with which halving would still end in time.
template <class F>
Crossing crossing(Excess low, Excess high, double width, const F& above) {
  const double all = high.x - low.x;
  double reach = width * std::exp2(std::ceil(std::log2(all / width)));
  for (; high.x - low.x > width; reach /= 2) {
    const double now = high.x - low.x, middle = low.x + now / 2;
    const double secant = low.x - low.above * now / (high.above - low.above);
    const double past = std::min(0.2 * now * now / all, std::abs(middle - secant));
    const double radius = reach - now / 2;
    const double x =
        std::clamp(secant + std::copysign(past, middle - secant), middle - radius, middle + radius);
    const Excess next{x, above(x)};
    (next.above <= 0 ? low : high) = next;
  }
  return {low.x, high.x};
}

}  // namespace headroom::model
