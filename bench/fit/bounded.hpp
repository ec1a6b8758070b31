// A constant between its bounds, by a sum of effects.
#pragma once

#include <algorithm>
#include <cmath>

#include "sweep/accuracy/constant_search.hpp"

namespace headroom::sweep {

/// The constant at this sum of effects. It approaches its bounds without an edge, because the
/// search follows slopes.
inline double bounded(double prior, double sum, const Bounds& bounds) {
  constexpr double edge = 0.02;  // a difference of logarithms
  const auto below = [](double x, double limit) {
    const double room = (limit - x) / edge;
    return limit - edge * (std::max(room, 0.0) + std::log1p(std::exp(-std::abs(room))));
  };
  const double under_high = below(std::log(prior) + sum, std::log(bounds.high));
  return std::exp(-below(-under_high, -std::log(bounds.low)));
}

}  // namespace headroom::sweep
