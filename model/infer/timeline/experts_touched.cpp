#include "model/infer/timeline/experts_touched.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hardware/units.hpp"

namespace headroom::model {
namespace {

/// The expected maximum, over `groups` equal groups of `each` experts, of those of `touched` ones
/// that are in a group. For one group, P(n) is hypergeometric. For the maximum of independent
/// groups it is 1 - P(at most n)^groups. Groups are not independent, so the distance from the mean
/// is multiplied by sqrt(groups / (groups - 1)). This holds for exchangeable normal variables of a
/// fixed sum. Within 6 % of the exact value (tests/model/infer/placement/expert_spread_test.cpp).
double most_of_a_group(Size experts, Size groups, Size touched) {
  const Size each = divided_up(experts, groups);
  const Size first = std::max<Size>(0, touched - (experts - each)), last = std::min(each, touched);
  double sum = 0, weight = 1;
  std::vector<double> up_to;
  for (Size n = first; n <= last; ++n) {
    up_to.push_back(sum += weight);
    weight *= static_cast<double>((each - n) * (touched - n)) /
              static_cast<double>((n + 1) * (experts - each - touched + n + 1));
  }
  auto most = static_cast<double>(first);
  for (std::size_t i = 0; i + 1 < up_to.size(); ++i)
    most += 1 - std::pow(up_to[i] / sum, static_cast<double>(groups));
  const double mean = static_cast<double>(touched * each) / static_cast<double>(experts);
  const auto n = static_cast<double>(groups);
  const double spread = mean + (most - mean) * std::sqrt(n / (n - 1));
  return std::clamp(spread, touched > 0 ? 1.0 : 0.0, static_cast<double>(last));
}

}  // namespace

double experts_touched(const Profile& profile, double tokens, Size groups) {
  const Routing r = profile.routing;
  if (r.experts <= 0 || r.used >= r.experts) return 1.0;
  const double share = static_cast<double>(r.used) / static_cast<double>(r.experts);
  // The power is at most exp(-share * tokens). Beyond 40 no digit of it is left.
  const double touched = tokens <= 1.0           ? share
                         : share * tokens > 40.0 ? 1.0
                                                 : 1.0 - std::pow(1.0 - share, tokens);
  if (groups == 1) return touched;
  const double count = touched * static_cast<double>(r.experts);
  const auto below = static_cast<Size>(count);
  const double at = count - static_cast<double>(below);
  double most = (1 - at) * most_of_a_group(r.experts, groups, below);
  if (at > 0) most += at * most_of_a_group(r.experts, groups, below + 1);
  return most / static_cast<double>(divided_up(r.experts, groups));
}

}  // namespace headroom::model
