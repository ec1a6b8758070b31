// A grid as a value: point i is the mixed-radix digits of i, computed and never stored.
//
// An axis is a number of values; axes that are linked share one digit and move together. The last
// digit turns fastest.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "hardware/units.hpp"

namespace headroom::sweep {

/// No spec may ask for more: it would not end.
inline constexpr Size max_points = 1'000'000'000'000;

class Grid {
 public:
  /// `radices`: how many values each digit has, all positive. Throws std::length_error when the
  /// product exceeds `max_points`, std::invalid_argument for a radix below 1.
  explicit Grid(std::vector<Size> radices) : radices_(std::move(radices)) {
    for (const Size radix : radices_) {
      if (radix < 1) throw std::invalid_argument("a digit of a grid has no values");
      if (size_ > max_points / radix) throw std::length_error("more than 10^12 points");
      size_ *= radix;
    }
  }

  Size size() const { return size_; }
  std::span<const Size> radices() const { return radices_; }

  /// The digits of point `index`, 0 <= index < size(), into `digits` (one for each radix).
  void decode(Size index, std::span<Size> digits) const {
    for (std::size_t k = radices_.size(); k-- > 0;) {
      digits[k] = index % radices_[k];
      index /= radices_[k];
    }
  }
  /// The inverse.
  Size encode(std::span<const Size> digits) const {
    Size index = 0;
    for (std::size_t k = 0; k < radices_.size(); ++k) index = index * radices_[k] + digits[k];
    return index;
  }
  /// Turns `digits` into those of the next point; from the last one back to the first.
  void advance(std::span<Size> digits) const {
    for (std::size_t k = radices_.size(); k-- > 0;) {
      if (++digits[k] < radices_[k]) return;
      digits[k] = 0;
    }
  }

 private:
  std::vector<Size> radices_;
  Size size_ = 1;
};

}  // namespace headroom::sweep
