// The figures that a report draws. A night of many models and machines has thousands.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/curve.hpp"
#include "report/reports.hpp"

namespace headroom::report {

struct ChosenFigures {
  std::vector<Figure> figures;
  std::size_t left_out = 0;
};

/// All figures of a run where `all`, or where there are at most 40. Else 40 of those that differ
/// from `before`, the run before it; on a first run (null) as many, evenly spread.
ChosenFigures chosen_figures(const Source& source, const Source* before, bool all);

/// "… more figures": how to have them drawn.
std::string left_out_words(const ChosenFigures& chosen);

}  // namespace headroom::report
