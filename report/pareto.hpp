// The Pareto frontier: points that no other point beats in both coordinates.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace headroom::report {

/// Indices of the points that no other beats: none has more of one and at least as much of the
/// other. By falling first coordinate; of equal points the first. NaN is on no frontier.
std::vector<std::size_t> pareto(std::span<const std::pair<double, double>> points);

}  // namespace headroom::report
