// Constants of engines fitted to measurements of one machine. The result says which constants the
// measurements determine, how much errors fall, and if errors also fall for rows outside the fit.
#pragma once

#include <string>
#include <vector>

#include "sweep/accuracy/constant_choice.hpp"
#include "sweep/factors.hpp"

namespace headroom::sweep {

/// A constant that was fitted.
struct FittedConstant {
  Factor factor;  ///< low and high: the least and the most that it came to with a part left out
  double before = 0;
};
/// A measurement under the constants as shipped, as fitted, and fitted without it; bytes or
/// seconds.
struct FittedRow {
  const Measurement* row = nullptr;
  std::string group;
  double measured = 0, before = 0, after = 0, left_out = 0;
};
/// Statistics of |expected / measured - 1| over rows.
struct ErrorFigures {
  double median = 0, p90 = 0;
};
ErrorFigures errors_of(const std::vector<FittedRow>& rows, double FittedRow::*expected);

struct Calibration {
  std::string runtime;
  std::vector<FittedConstant> constants;
  std::vector<NotFitted> not_fitted;
  std::vector<FittedRow> rows;
  std::string folds;  ///< the parts left out in turn: "each model", "each measurement"
  /// True if estimates of left-out rows improve on the shipped constants by a tenth of the mean
  /// |ln(expected / measured)|.
  bool supported() const;
};

/// For the engine of `subjects` (all of one family). Their scenarios may name any of its rows.
///
/// The constants are those of choose_constants. ConstantSearch starts from the shipped values and
/// is regularised towards them. A constant that reaches its bound is replaced by another that the
/// measurements cannot separate from it. Intervals come from the rows that were left out.
Calibration calibrate(const std::vector<ScoredRow>& subjects);

inline constexpr std::size_t fewest_measurements = 3;

/// The reason why the row cannot be right: it is faster than the hardware's full rates allow, or
/// takes less memory than weights and caches. Empty if it can be right.
std::string impossible(const ScoredRow& subject);

}  // namespace headroom::sweep
