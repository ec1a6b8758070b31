// Digit by digit: what decides a digit of the other grid is looked up in a table made once.
#include "report/point_map.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "report/columns.hpp"

namespace headroom::report {
namespace {

/// More combinations of digits than this stand for one digit of the other grid only where axes
/// were linked anew; such grids count as different.
constexpr Size max_combinations = 1 << 22;

/// True if the column identifies points. Facts that follow from fingerprinted content are covered
/// by the fingerprint, or do not affect the outcome (a price).
bool compared(const Axis& axis, const Digit& digit, Match match) {
  const Column* column = find_column(axis.column);
  if (column && column->kind == ColumnKind::axis) return true;
  return match == Match::content &&
         std::ranges::all_of(digit, [](const Axis& each) { return each.fingerprints.empty(); });
}

std::string key_of(const Axis& axis, std::size_t position, Match match) {
  std::string key = axis.column + '=' + text_of(&axis.values[position]);
  if (match == Match::content && !axis.fingerprints.empty())
    key += '#' + std::to_string(axis.fingerprints[position]);
  return key + '\n';
}

/// The values of `columns` at a position of `digit`; empty for columns that it lacks.
std::string key_of(const Digit& digit, std::size_t position,
                   const std::vector<std::string>& columns, Match match) {
  std::string key;
  for (const auto& column : columns)
    if (const auto axis = std::ranges::find(digit, column, &Axis::column); axis != digit.end())
      key += key_of(*axis, position, match);
  return key;
}

std::size_t length(const Digit& digit) { return digit.front().values.size(); }

bool has(const Digit& digit, const std::string& column) {
  return std::ranges::find(digit, column, &Axis::column) != digit.end();
}

/// True if an axis that the other grid lacks has no value at any point.
bool empty(const Axis& axis) {
  return std::ranges::all_of(axis.values, [](const AxisValue& v) { return text_of(&v).empty(); });
}

/// True if the values of an axis distinguish points of one grid, and the other grid lacks the axis.
bool differ_in_axes(const GridShape& a, const GridShape& b, Match match) {
  for (const auto& [one, other] : {std::pair(&a, &b), {&b, &a}})
    for (const Digit& digit : one->digits)
      for (const Axis& axis : digit)
        if (compared(axis, digit, match) && !empty(axis) &&
            std::ranges::none_of(other->digits,
                                 [&](const Digit& d) { return has(d, axis.column); }))
          return true;
  return false;
}

/// Columns of a digit that identify points, sorted.
std::vector<std::string> compared_columns_of(const Digit& digit, Match match) {
  std::vector<std::string> columns;
  for (const Axis& axis : digit)
    if (compared(axis, digit, match)) columns.push_back(axis.column);
  std::ranges::sort(columns);
  return columns;
}

}  // namespace

PointMap::PointMap(const Axes& from, const Axes& to, Match match) : from_(&from), to_(&to) {
  for (std::size_t f = 0; f < from.info().grids.size(); ++f) {
    auto& pairs = pairs_.emplace_back();
    for (std::size_t t = 0; t < to.info().grids.size(); ++t)
      if (auto found = pair(f, t, match)) pairs.push_back(std::move(*found));
    // The grid at the same place first: of points that two grids hold, that is the one meant.
    std::ranges::stable_sort(pairs, {}, [&](const Pair& p) { return p.to == f ? 0 : 1; });
  }
}

/// Finds the position of `digit` by the digits of grid `a` that decide it. None if those have too
/// many combinations.
std::optional<PointMap::Lookup> PointMap::lookup_of(const GridShape& a, const Digit& digit,
                                                    Match match) {
  std::vector<std::string> columns = compared_columns_of(digit, match);
  Lookup lookup;
  Size combinations = 1;
  for (std::size_t d = 0; d < a.digits.size(); ++d)
    if (std::ranges::any_of(columns, [&](const auto& c) { return has(a.digits[d], c); })) {
      lookup.digits.push_back(d);
      combinations *= static_cast<Size>(length(a.digits[d]));
      if (combinations > max_combinations) return std::nullopt;
    }
  // Empty axes that only one side has say nothing.
  std::erase_if(columns, [&](const auto& c) {
    return std::ranges::none_of(lookup.digits, [&](auto d) { return has(a.digits[d], c); });
  });
  std::map<std::string, Size> places;
  for (std::size_t i = 0; i < length(digit); ++i)
    places.emplace(key_of(digit, i, columns, match), static_cast<Size>(i));
  std::vector<std::size_t> at(lookup.digits.size());
  for (Size n = 0; n < combinations; ++n) {
    std::string key;
    for (const auto& column : columns)
      for (std::size_t k = 0; k < at.size(); ++k)
        key += key_of(a.digits[lookup.digits[k]], at[k], {column}, match);
    const auto place = places.find(key);
    lookup.positions.push_back(place == places.end() ? -1 : place->second);
    for (std::size_t k = at.size(); k-- > 0;) {
      if (++at[k] < length(a.digits[lookup.digits[k]])) break;
      at[k] = 0;
    }
  }
  return lookup;
}

/// Points in a row that keep their order, because their last digits are the same in both grids.
Size PointMap::points_in_order(const GridShape& a, const GridShape& b,
                               const std::vector<Lookup>& lookups) {
  Size points = 1;
  for (std::size_t k = 1; k <= std::min(a.digits.size(), b.digits.size()); ++k) {
    const std::size_t d = a.digits.size() - k;
    const Lookup& last = lookups[b.digits.size() - k];
    Size next = 0;
    const bool same = last.digits == std::vector{d} &&
                      last.positions.size() == length(b.digits[b.digits.size() - k]) &&
                      std::ranges::all_of(last.positions, [&](Size p) { return p == next++; }) &&
                      std::ranges::count_if(lookups, [&](const Lookup& l) {
                        return std::ranges::find(l.digits, d) != l.digits.end();
                      }) == 1;
    if (!same) break;
    points *= static_cast<Size>(length(a.digits[d]));
  }
  return points;
}

std::optional<PointMap::Pair> PointMap::pair(std::size_t from, std::size_t to, Match match) const {
  const GridShape& a = from_->info().grids[from];
  const GridShape& b = to_->info().grids[to];
  if (match == Match::content && a.excluded != b.excluded) return std::nullopt;
  if (differ_in_axes(a, b, match)) return std::nullopt;
  Pair pair{to, {}, 1};
  for (const Digit& digit : b.digits) {
    std::optional<Lookup> lookup = lookup_of(a, digit, match);
    if (!lookup) return std::nullopt;
    if (std::ranges::all_of(lookup->positions, [](Size p) { return p < 0; })) return std::nullopt;
    pair.lookups.push_back(std::move(*lookup));
  }
  pair.inner = points_in_order(a, b, pair.lookups);
  return pair;
}

std::optional<Size> PointMap::find(std::size_t from, const Pair& pair, Size point) const {
  Size there = to_->first_point(pair.to);
  for (std::size_t k = 0; k < pair.lookups.size(); ++k) {
    const Lookup& lookup = pair.lookups[k];
    Size cell = 0;
    for (const auto d : lookup.digits)
      cell = cell * from_->places(from)[d].size + from_->position(from, d, point);
    const Size position = lookup.positions[static_cast<std::size_t>(cell)];
    if (position < 0) return std::nullopt;
    there += position * to_->places(pair.to)[k].stride;
  }
  return there;
}

PointMap::Range PointMap::at(Size point) const {
  const auto from = from_->grid_of(point);
  const Size inside = point - from_->first_point(from);
  Size points = from_->info().grids[from].points() - inside;
  for (const Pair& pair : pairs_[from]) {
    points = std::min(points, pair.inner - inside % pair.inner);
    if (const auto there = find(from, pair, point)) return {points, there};
  }
  return {points, std::nullopt};
}

}  // namespace headroom::report
