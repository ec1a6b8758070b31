// Constants of engines fitted to measurements of one machine: which of them the measurements can
// tell, how much nearer the estimates come, and whether that holds for what was not fitted.
#pragma once

#include <string>
#include <vector>

#include "sweep/constant_search.hpp"
#include "sweep/factors.hpp"

namespace headroom::sweep {

/// A constant that was fitted.
struct FittedConstant {
  Factor factor;  ///< low and high: the least and the most that it came to with a part left out
  double before = 0;
};
/// One that was not, and why.
struct NotFitted {
  std::string runtime, name, why;
};
/// A measurement under the constants as shipped, as fitted, and fitted without it; bytes or
/// seconds.
struct FittedRow {
  const Measurement* row = nullptr;
  std::string group;
  double measured = 0, before = 0, after = 0, left_out = 0;
};
/// Of |expected / measured - 1| over rows.
struct ErrorFigures {
  double median = 0, p90 = 0;
};
ErrorFigures errors_of(const std::vector<FittedRow>& rows, double FittedRow::*expected);

struct Calibration {
  std::string runtime;
  std::vector<FittedConstant> constants;
  std::vector<NotFitted> not_fitted;
  std::vector<FittedRow> rows;
  std::string folds;  ///< what was left out in turn: "each model", "each measurement"
  /// Whether what was left out is estimated better than with the shipped constants.
  bool supported() const;
};

/// For the engine of `subjects` (all of one family). Their scenarios may name any of its rows.
///
/// A constant is fitted where the measurements tell it from those that were chosen before it: with
/// J the derivatives of ln(expected) by ln(constant), columns are chosen by what of them is not in
/// the span of the chosen ones (Gram-Schmidt with pivoting), until less than `tellable` is left, or
/// there are half as many constants as measurements. The search is ConstantSearch, from the shipped
/// constants and pulled to them. Intervals come from the rows that were left out.
Calibration calibrate(const std::vector<Subject>& subjects);

/// Length of a column of J, beside those chosen, from which on a constant can be told.
inline constexpr double tellable = 0.15;
inline constexpr std::size_t fewest_measurements = 3;

/// Why the row cannot be right; empty where it can: it is faster than the hardware's full rates
/// allow, or takes less memory than weights and caches.
std::string impossible(const Subject& subject);

}  // namespace headroom::sweep
