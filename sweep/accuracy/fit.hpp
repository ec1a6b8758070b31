// Constants of engines from measurements: those that bring estimates nearest to them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweep/accuracy/subject.hpp"

namespace headroom::sweep {

enum class Intervals { yes, no };  ///< no: the lines of constants alone

/// The lines of model/catalogue/constants.tsv.
///
/// For each engine, from the priors of model/runtime_rows.cpp: first one value of a constant for
/// all cards and widths of weights, then one for each of them that has rows, by
///
///   minimise  sum over rows |ln(expected / measured)| / sqrt(rows of its group)
///             + pull * sum over constants ln(value / common)^2
///
/// by coordinate descent. The absolute error leaves outliers without weight; the pull keeps a cell
/// with few rows near what all cells have in common, and what they have in common near its prior
/// (over the square of half the prior's interval, in logarithms; memory is not pulled). Generations
/// of an engine start at what its versions have in common: a common factor of each rate, then its
/// cells and other constants, pulled likewise. A constant counts as measured by the rows whose
/// estimate it changes. Intervals are the 10th and 90th percentile of measured / expected by
/// generation and kind, each row by constants that were fitted with and by those that were fitted
/// without its model; of memory the 8th and 92nd by all rows' constants.
std::string fit(const std::vector<const Subject*>& subjects, Intervals with = Intervals::yes);

/// measured / expected of each of `subjects`, measurements of one engine whose versions are
/// `versions`, by constants that its model had no part in: models (rows, where there is but one)
/// are dealt to three parts, and each part is left out in turn. Nothing where there is no estimate.
std::vector<std::optional<double>> left_out_ratios(const std::vector<model::Runtime>& versions,
                                                   const std::vector<Subject>& subjects);

}  // namespace headroom::sweep
