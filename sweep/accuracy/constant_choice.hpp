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

/// Length of a column of J, beside those chosen, from which on a constant can be told.
inline constexpr double tellable = 0.15;

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

/// With J the derivatives of ln(expected) by ln(constant), a row a measurement: columns are chosen
/// by what of them is not in the span of those chosen before (Gram-Schmidt with pivoting), until
/// less than `tellable` is left or there are half as many constants as measurements. Constants of
/// rates are apart for each class of cards and width of weights that was measured. The constants of
/// `search` are as they were afterwards.
ConstantChoice choose_constants(ConstantSearch& search);

}  // namespace headroom::sweep
