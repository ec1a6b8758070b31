// The condition is one of report/condition.hpp, over the values of the axes alone.
#include "sweep/grid/exclusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/axes.hpp"
#include "report/condition.hpp"

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

namespace {

/// Takes those conditions out of `waiting` that share digits with the last one of them, directly or
/// through others. Adds their digits to `digits`.
std::vector<const Exclusion*> taken_together(std::vector<const Exclusion*>& waiting,
                                             std::set<std::size_t>& digits) {
  std::vector<const Exclusion*> together = {waiting.back()};
  waiting.pop_back();
  digits.insert(together[0]->digits().begin(), together[0]->digits().end());
  const auto shares = [&](const Exclusion* each) {
    return std::ranges::any_of(each->digits(), [&](auto digit) { return digits.contains(digit); });
  };
  for (auto next = std::ranges::find_if(waiting, shares); next != waiting.end();
       next = std::ranges::find_if(waiting, shares)) {
    digits.insert((*next)->digits().begin(), (*next)->digits().end());
    together.push_back(*next);
    waiting.erase(next);
  }
  return together;
}

}  // namespace

std::optional<Size> points_left(const Grid& grid, std::span<const Exclusion> exclusions) {
  Size left = grid.size();
  std::vector<const Exclusion*> waiting;
  for (const Exclusion& each : exclusions) waiting.push_back(&each);
  while (!waiting.empty()) {
    std::set<std::size_t> digits;
    const auto together = taken_together(waiting, digits);
    std::vector<Size> radices, point(grid.radices().size());
    for (const auto digit : digits) radices.push_back(grid.radices()[digit]);
    const Grid part(radices);
    if (part.size() > max_combinations) return std::nullopt;
    std::vector<Size> at(radices.size());
    Size kept = 0;
    for (Size i = 0; i < part.size(); ++i, part.advance(at)) {
      for (std::size_t k = 0; const auto digit : digits) point[digit] = at[k++];
      kept += std::ranges::none_of(together,
                                   [&](const Exclusion* each) { return each->excludes(point); });
    }
    left = left / part.size() * kept;
  }
  return left;
}

}  // namespace headroom::sweep
