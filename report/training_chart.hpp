// Stacked bars of what training takes on a card, a bar for each model and method.
#pragma once

#include <vector>

#include "report/plot.hpp"
#include "report/training_points.hpp"

namespace headroom::report {

/// Bars of one figure at most: more would not be read.
inline constexpr std::size_t max_bars = 30;

/// One drawing for each machine and runtime; refused lines have no bar.
std::vector<Drawing> training_drawings(const Source& source,
                                       const std::vector<TrainingLine>& lines);

}  // namespace headroom::report
