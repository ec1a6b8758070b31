// Constants of engines from measurements: those that bring estimates nearest to them.
#pragma once

#include <string>
#include <vector>

#include "sweep/subject.hpp"

namespace headroom::sweep {

/// The lines of model/catalogue/constants.tsv.
///
/// For each engine, from the priors of model/runtime_rows.cpp: first one value of a constant for
/// all cards and widths of weights, then one for each of them that has rows, by
///
///   minimise  sum over rows |ln(expected / measured)| / rows of its group
///             + pull * sum over cells ln(cell / common)^2
///
/// by coordinate descent. The absolute error leaves outliers without weight; the pull keeps a cell
/// with few rows near what all cells have in common. A constant counts as measured by the rows
/// whose estimate it changes. Intervals are the 8th and 92nd percentile of measured / expected by
/// engine and kind: wider than 80 % by what fitting takes off.
std::string fit(const std::vector<const Subject*>& subjects);

}  // namespace headroom::sweep
