// Which constants a set of measurements can tell.
#pragma once

#include <string>
#include <vector>

#include "sweep/accuracy/constant_search.hpp"

namespace headroom::sweep {

/// A constant that is not fitted, and why.
struct NotFitted {
  std::string name, why;
};

/// Least length of a column of J, orthogonal to the chosen ones, that determines a constant.
inline constexpr double min_column_length = 0.15;

/// A constant that the measurements cannot tell from one that was chosen: it explains them as well
/// where that one cannot, being at its bound.
struct Alternative {
  Unknown unknown;
  std::string of;  ///< name of the chosen one
};

struct ConstantChoice {
  std::vector<Unknown> chosen;  ///< each pulled to its shipped value
  std::vector<Alternative> alternatives;
  std::vector<NotFitted> not_fitted;
};

/// J has the derivatives of ln(expected) by ln(constant), one row a measurement. Columns are chosen
/// by their part outside the span of earlier ones (Gram-Schmidt with pivoting). The choice ends
/// when less than `min_column_length` remains, or with half as many constants as measurements.
/// Rates are separate constants for each measured class of cards and width of weights. The
/// constants of `search` are restored afterwards.
ConstantChoice choose_constants(ConstantSearch& search);

}  // namespace headroom::sweep
