// The condition is one of report/condition.hpp, over the values of the axes alone.
#include "sweep/exclusion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/axes.hpp"
#include "report/condition.hpp"
#include "sweep/grid.hpp"

namespace headroom::sweep {
namespace {

using report::Column;
using report::ColumnKind;

/// An axis and the digit it moves with.
struct Source {
  std::size_t digit;
  const report::Axis* axis;
};

Source source_of(const Column& column, const report::GridShape& shape) {
  for (std::size_t k = 0; k < shape.digits.size(); ++k)
    for (const report::Axis& axis : shape.digits[k])
      if (axis.column == column.name) return {k, &axis};
  const bool of_axes = column.kind == ColumnKind::axis || column.kind == ColumnKind::fact;
  throw std::invalid_argument(
      of_axes ? fmt::format("'{}' has no values in this grid", column.name)
              : fmt::format("'{}' is an outcome; a condition here can use only axes", column.name));
}

[[noreturn]] void refuse(const std::string& problem, const report::GridShape& shape) {
  std::vector<std::string_view> known;
  for (const auto& digit : shape.digits)
    for (const report::Axis& axis : digit) known.push_back(axis.column);
  throw std::invalid_argument(fmt::format("{}; columns: {}", problem, fmt::join(known, ", ")));
}

}  // namespace

Exclusion::Exclusion(const std::string& text, const report::GridShape& shape) try {
  const report::Condition condition(text, {"result"});
  std::vector<Source> sources;
  for (const auto& read : condition.columns_read())
    sources.push_back(source_of(*read.column, shape));
  for (const Source& each : sources) digits_.push_back(each.digit);
  std::ranges::sort(digits_);
  digits_.erase(std::unique(digits_.begin(), digits_.end()), digits_.end());
  Size cells = 1;
  for (const auto digit : digits_) {
    radices_.push_back(static_cast<Size>(shape.digits[digit].front().values.size()));
    if (cells > max_combinations / radices_.back())
      throw std::invalid_argument(
          "depends on more than 2*10^7 combinations of axis values; split the grid instead");
    cells *= radices_.back();
  }
  const Grid combinations(radices_);
  std::vector<Size> at(digits_.size()), point(shape.digits.size());
  std::vector<report::Cell> values(sources.size());
  bits_.reserve(static_cast<std::size_t>(cells));
  for (Size i = 0; i < cells; ++i, combinations.advance(at)) {
    for (std::size_t k = 0; k < at.size(); ++k) point[digits_[k]] = at[k];
    for (std::size_t s = 0; s < sources.size(); ++s)
      values[s] = report::cell_of(
          sources[s].axis->values[static_cast<std::size_t>(point[sources[s].digit])]);
    bits_.push_back(condition.holds(values));
  }
} catch (const report::ConditionError& e) {
  refuse(e.what(), shape);
} catch (const std::invalid_argument& e) {
  refuse(fmt::format("'{}': {}", text, e.what()), shape);
}

}  // namespace headroom::sweep
