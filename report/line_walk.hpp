// Walks the points of a grid that lines are made of.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "report/axes.hpp"

namespace headroom::report {

/// Odometer over digits with the given orders of positions: false after the last combination.
bool advance(std::vector<std::size_t>& at, const std::vector<std::vector<Size>>& orders);

/// Some digits of a grid and the positions that each goes through.
struct Walk {
  std::vector<Size> strides;
  std::vector<std::vector<Size>> orders;
  /// Points from the first of the grid to the one at these places of the orders.
  Size offset(const std::vector<std::size_t>& at) const;
  /// Calls `visit` with the offset of each combination.
  template <class Visit>
  void for_each(const Visit& visit) const {
    std::vector<std::size_t> at(strides.size());
    do visit(offset(at));
    while (advance(at, orders));
  }
};

/// The digits of a grid by what they are to a line. Some name it, and budgets are its entries. The
/// preferred positions of the others come first.
struct LineWalk {
  Walk names, budgets, others;
  LineWalk(const Axes& axes, std::size_t grid);
};

/// Numbers for machine, runtime, model and precision in a grid: equal names have equal numbers.
class NameNumbers {
 public:
  NameNumbers(const Axes& axes, std::size_t grid);
  std::array<int, 4> at(Size point) const;

 private:
  struct Name {
    std::string_view column;
    std::size_t digit = 0;
    std::vector<int> numbers{};  ///< by position; empty: the grid has no such axis
  };
  const Axes* axes_;
  std::size_t grid_;
  std::array<Name, 4> names_{{{"machine"}, {"runtime"}, {"model"}, {"precision"}}};
};

}  // namespace headroom::report
