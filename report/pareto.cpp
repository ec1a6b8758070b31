#include "report/pareto.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace headroom::report {

std::vector<std::size_t> pareto(std::span<const std::pair<double, double>> points) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!std::isnan(points[i].first) && !std::isnan(points[i].second)) order.push_back(i);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return std::tuple(-points[a].first, -points[a].second, a) <
           std::tuple(-points[b].first, -points[b].second, b);
  });
  std::vector<std::size_t> frontier;
  for (const std::size_t i : order)
    if (frontier.empty() || points[i].second > points[frontier.back()].second)
      frontier.push_back(i);
  return frontier;
}

}  // namespace headroom::report
