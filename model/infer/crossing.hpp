// The place at which a rising function crosses 0.
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

/// Two x at most `width` apart, `at(before).above <= 0 < at(after).above`, between `low` and
/// `high`, of which the same holds. Both are finite there.
///
/// The ITP method (Oliveira and Takahashi, ACM Transactions on Mathematical Software 47, 2020): few
/// steps where the function is smooth, and at most two more than halving takes, one of them by
/// rounding. `reach` is half the widest interval with which halving would still end in time.
template <class F>
Crossing crossing(Excess low, Excess high, double width, const F& at) {
  const double all = high.x - low.x;
  double reach = width * std::exp2(std::ceil(std::log2(all / width)));
  for (; high.x - low.x > width; reach /= 2) {
    const double now = high.x - low.x, middle = low.x + now / 2;
    const double secant = low.x - low.above * now / (high.above - low.above);
    const double past = std::min(0.2 * now * now / all, std::abs(middle - secant));
    const double radius = reach - now / 2;
    const Excess next = at(std::clamp(secant + std::copysign(past, middle - secant),
                                      middle - radius, middle + radius));
    (next.above <= 0 ? low : high) = next;
  }
  return {low.x, high.x};
}

/// The interval between `low` and `high` that so many halvings leave, in fewer steps. Equal results
/// of two searches stay equal, however they were begun.
template <class F>
Crossing halved(Excess low, Excess high, int halvings, const F& at) {
  const Crossing near = crossing(low, high, std::ldexp(high.x - low.x, -halvings), at);
  Crossing left{low.x, high.x};
  for (int i = 0; i < halvings; ++i) {
    const double middle = (left.before + left.after) / 2;
    const bool is_before = middle <= near.before || (middle < near.after && at(middle).above <= 0);
    (is_before ? left.before : left.after) = middle;
  }
  return left;
}

}  // namespace headroom::model
