// Quantiles of values.
#pragma once

#include <vector>

namespace headroom::sweep {

/// The value below which `share` (0 to 1) of `values` lie, between neighbours in proportion; 0 of
/// none.
double quantile(std::vector<double> values, double share);

/// A value and how much it counts.
struct Weighed {
  double value, weight;
};
/// The quantile of weighted values; each value is at the middle of its weight.
double quantile(std::vector<Weighed> values, double share);

}  // namespace headroom::sweep
