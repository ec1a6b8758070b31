// A range of layers, and sums over it.
#pragma once

#include <cstddef>
#include <vector>

#include "hardware/units.hpp"

namespace headroom::model {

/// Layers [first, last).
struct Range {
  Size first = 0, last = 0;
  Size size() const { return last - first; }
  bool operator==(const Range&) const = default;
};

inline Range intersect(Range a, Range b) {
  const Size first = std::max(a.first, b.first);
  return {first, std::max(first, std::min(a.last, b.last))};
}

/// The sum over the layers of `range`. `before` holds prefix sums: entry n is the sum over the
/// first n layers.
template <class T>
T between(const std::vector<T>& before, Range range) {
  return before[static_cast<std::size_t>(range.last)] -
         before[static_cast<std::size_t>(range.first)];
}

}  // namespace headroom::model
