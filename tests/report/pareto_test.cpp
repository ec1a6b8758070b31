// The frontier against its definition, point by point.
#include "report/pareto.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace headroom::report {
namespace {

using Points = std::vector<std::pair<double, double>>;

bool beats(const std::pair<double, double>& a, const std::pair<double, double>& b) {
  return a.first >= b.first && a.second >= b.second && a != b;
}

TEST(Pareto, ContainsTheUndominatedPoints) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    Points points(random() % 40);
    for (auto& each : points)
      each = {static_cast<double>(random() % 12), static_cast<double>(random() % 12)};
    if (round % 3 == 0 && !points.empty()) points.front().second = NAN;
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (std::isnan(points[i].second)) continue;
      bool best = true;
      for (std::size_t j = 0; j < points.size(); ++j)
        best = best && !beats(points[j], points[i]) && !(j < i && points[j] == points[i]);
      if (best) expected.push_back(i);
    }
    auto found = pareto(points);
    EXPECT_TRUE(std::ranges::is_sorted(found, std::greater{},
                                       [&](std::size_t i) { return points[i].first; }));
    std::ranges::sort(found);
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace headroom::report
