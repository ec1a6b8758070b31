#include "report/line_walk.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "report/columns.hpp"

namespace headroom::report {
namespace {

bool is_name(const std::string& column) {
  return column == "machine" || column == "runtime" || column == "model" || column == "precision" ||
         column == "task";
}

enum class Part { name, budget, other };

Part part_of(const Digit& digit) {
  if (std::ranges::any_of(digit, [](const Axis& a) { return is_name(a.column); }))
    return Part::name;
  const auto is_budget = [](const Axis& a) { return a.column == "gpu_budget_bytes"; };
  return std::ranges::any_of(digit, is_budget) ? Part::budget : Part::other;
}

/// Positions of an axis that is not shown, the preferred one first.
std::vector<Size> preferred(const Digit& digit) {
  const Axis& axis = digit.front();
  std::vector<Size> order(axis.values.size());
  std::iota(order.begin(), order.end(), Size{0});
  const Column* column = find_column(axis.column);
  if (!column || column->type == SqlType::text) return order;
  const bool largest = axis.column.ends_with("_budget_bytes");
  const double none = largest ? std::numeric_limits<double>::infinity() : 0;
  std::ranges::stable_sort(order, {}, [&](Size i) {
    const double n = number_of(&axis.values[static_cast<std::size_t>(i)], none);
    return largest ? -n : n;
  });
  return order;
}

}  // namespace

bool advance(std::vector<std::size_t>& at, const std::vector<std::vector<Size>>& orders) {
  for (std::size_t k = at.size(); k-- > 0;) {
    if (++at[k] < orders[k].size()) return true;
    at[k] = 0;
  }
  return false;
}

Size Walk::offset(const std::vector<std::size_t>& at) const {
  Size sum = 0;
  for (std::size_t k = 0; k < at.size(); ++k) sum += strides[k] * orders[k][at[k]];
  return sum;
}

LineWalk::LineWalk(const Axes& axes, std::size_t grid) {
  const auto& digits = axes.info().grids[grid].digits;
  for (std::size_t d = 0; d < digits.size(); ++d) {
    const Part part = part_of(digits[d]);
    std::vector<Size> in_order(digits[d].front().values.size());
    std::iota(in_order.begin(), in_order.end(), Size{0});
    Walk& walk = part == Part::name ? names : part == Part::budget ? budgets : others;
    walk.strides.push_back(axes.places(grid)[d].stride);
    walk.orders.push_back(part == Part::other ? preferred(digits[d]) : in_order);
  }
}

NameNumbers::NameNumbers(const Axes& axes, std::size_t grid) : axes_(&axes), grid_(grid) {
  const auto& digits = axes.info().grids[grid].digits;
  for (Name& name : names_)
    for (std::size_t d = 0; d < digits.size(); ++d)
      for (const Axis& axis : digits[d]) {
        if (axis.column != name.column || !name.numbers.empty()) continue;
        name.digit = d;
        std::map<std::string, int> known;
        for (const AxisValue& value : axis.values) {
          const auto next = static_cast<int>(known.size());
          name.numbers.push_back(known.try_emplace(text_of(&value), next).first->second);
        }
      }
}

std::array<int, 4> NameNumbers::at(Size point) const {
  std::array<int, 4> all{};
  for (std::size_t n = 0; n < names_.size(); ++n)
    if (const Name& name = names_[n]; !name.numbers.empty())
      all[n] = name.numbers[static_cast<std::size_t>(axes_->position(grid_, name.digit, point))];
  return all;
}

}  // namespace headroom::report
