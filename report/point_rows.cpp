// Points next to each other are read by one query.
#include "report/point_rows.hpp"

#include <algorithm>

namespace headroom::report {

PointRows::PointRows(const Database& database, std::int64_t run, std::vector<Size> points) {
  if (!std::ranges::is_sorted(points)) std::ranges::sort(points);
  points_.reserve(points.size());
  estimates_.reserve(points.size());
  for (std::size_t first = 0; first < points.size();) {
    std::size_t end = first + 1;
    while (end < points.size() && points[end] <= points[end - 1] + 1) ++end;
    database.read(run, points[first], points[end - 1] - points[first] + 1,
                  [&](Size point, const model::Estimate& estimate) {
                    points_.push_back(point);
                    estimates_.push_back(estimate);
                  });
    first = end;
  }
}

const model::Estimate* PointRows::find(Size point) const {
  const auto at = std::ranges::lower_bound(points_, point);
  if (at == points_.end() || *at != point) return nullptr;
  return &estimates_[static_cast<std::size_t>(at - points_.begin())];
}

}  // namespace headroom::report
