// The rows of a run: ranges of the table `outcome`, written by this run or by an earlier one.
#pragma once

#include <cstdint>
#include <optional>

#include "hardware/units.hpp"

namespace headroom::report {

/// The rowid of a point in the run that computed it is run * run_stride + point.
inline constexpr Size run_stride = Size{1} << 40;

/// Points of a run that stand in a row; the row of point first + i, where it was not excluded, is
/// row + i.
struct Extent {
  Size first = 0, points = 0;
  Size row = 0;
  bool operator==(const Extent&) const = default;
};

/// A range on its way into the store; without a row it is computed now.
struct RowRange {
  Size first = 0, points = 0;
  std::optional<Size> row{};
};

}  // namespace headroom::report
