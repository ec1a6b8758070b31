// Positions of labels in a panel of a chart: none covers another.
#pragma once

#include <cstddef>
#include <span>

namespace headroom::report {

/// Position of text in a panel, in pixels from its lower left.
struct Box {
  double left, right, bottom, top;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && bottom < other.top && other.bottom < top;
  }
};
inline constexpr double panel_width = 783, panel_height = 240;

/// The place of a label of `letters` at the point `x`, `y`. With `up` it is above the curve and to
/// its left, otherwise below and to its right, which a rising curve leaves free. It is the nearest
/// such place that is free and within the panel.
Box label_place(double x, double y, std::size_t letters, bool up, std::span<const Box> taken);

}  // namespace headroom::report
