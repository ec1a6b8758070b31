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

/// How keys write a GPU budget: in bytes; shares and remainders of the card as such ("50%",
/// "max-2GiB"); the whole card as "max" too.
enum class BudgetKey { bytes, parts_of_card, whole_card };

/// "max", "50%"; empty for a budget in bytes.
std::string relative_budget(const Digit& digit, std::size_t position) {
  const auto axis = std::ranges::find(digit, "gpu_budget_relative", &Axis::column);
  return axis == digit.end() ? std::string() : text_of(&axis->values[position]);
}

/// How the values of one grid are compared with those of another.
struct Keys {
  Match match;
  const ReplacedMachine* replaced = nullptr;  ///< null: none, or of the grid that has `to`
  BudgetKey budget = BudgetKey::bytes;

  std::string of(const Digit& digit, const Axis& axis, std::size_t position) const {
    std::string value = text_of(&axis.values[position]);
    if (replaced && axis.column == "machine" && value == replaced->from) value = replaced->to;
    if (budget != BudgetKey::bytes && axis.column == "gpu_budget_bytes")
      if (const auto part = relative_budget(digit, position);
          !part.empty() && (part != "max" || budget == BudgetKey::whole_card))
        value = part;
    std::string key = axis.column + '=' + value;
    if (match == Match::content && !axis.fingerprints.empty())
      key += '#' + std::to_string(axis.fingerprints[position]);
    return key + '\n';
  }
  /// The values of `columns` at a position of `digit`; empty for columns that it lacks.
  std::string of(const Digit& digit, std::size_t position,
                 const std::vector<std::string>& columns) const {
    std::string key;
    for (const auto& column : columns)
      if (const auto axis = std::ranges::find(digit, column, &Axis::column); axis != digit.end())
        key += of(digit, *axis, position);
    return key;
  }
};

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

/// Machines of all grids, in the order of the spec.
std::vector<std::string> machines_of(const RunInfo& info) {
  std::vector<std::string> all;
  for (const GridShape& grid : info.grids)
    for (const Digit& digit : grid.digits)
      for (const Axis& axis : digit)
        if (axis.column == "machine")
          for (const AxisValue& value : axis.values)
            if (const auto name = text_of(&value); std::ranges::find(all, name) == all.end())
              all.push_back(name);
  return all;
}

/// The only one of `names` that is not among `others`; none where there are several.
std::optional<std::string> only_missing(std::vector<std::string> names,
                                        const std::vector<std::string>& others) {
  std::erase_if(names,
                [&](const auto& name) { return std::ranges::find(others, name) != others.end(); });
  return names.size() == 1 ? std::optional(names.front()) : std::nullopt;
}

/// Columns of a digit that identify points, sorted.
std::vector<std::string> compared_columns_of(const Digit& digit, Match match) {
  std::vector<std::string> columns;
  for (const Axis& axis : digit)
    if (compared(axis, digit, match)) columns.push_back(axis.column);
  std::ranges::sort(columns);
  return columns;
}

/// Digits of one grid that decide a digit of the other one, in all combinations.
struct Combinations {
  const GridShape* grid;
  std::vector<std::size_t> digits;
  Size count = 1;

  /// The key of combination `n`, the last digit the fastest.
  std::string key(Size n, const std::vector<std::string>& columns, const Keys& keys) const {
    std::vector<std::size_t> at(digits.size());
    for (std::size_t k = at.size(); k-- > 0;) {
      const auto size = static_cast<Size>(length(grid->digits[digits[k]]));
      at[k] = static_cast<std::size_t>(n % size);
      n /= size;
    }
    std::string key;
    for (const auto& column : columns)
      for (std::size_t k = 0; k < at.size(); ++k)
        key += keys.of(grid->digits[digits[k]], at[k], {column});
    return key;
  }
};

/// Finds for each combination the position of `digit` with the same values; -1: there is none.
std::vector<Size> positions_of(const Combinations& all, const Digit& digit,
                               const std::vector<std::string>& columns, Keys from, Keys to) {
  std::vector<Size> found(static_cast<std::size_t>(all.count), -1);
  std::vector<bool> taken(length(digit));
  const auto match_rest = [&] {
    std::map<std::string, Size> places;
    for (std::size_t i = 0; i < length(digit); ++i)
      if (!taken[i]) places.emplace(to.of(digit, i, columns), static_cast<Size>(i));
    for (Size n = 0; n < all.count; ++n) {
      Size& position = found[static_cast<std::size_t>(n)];
      if (position >= 0) continue;
      const auto place = places.find(all.key(n, columns, from));
      if (place != places.end()) position = place->second;
    }
    for (const Size position : found)
      if (position >= 0) taken[static_cast<std::size_t>(position)] = true;
  };
  const auto is_open = [&] {
    return std::ranges::find(found, -1) != found.end() &&
           std::ranges::find(taken, false) != taken.end();
  };
  const bool relative = from.match == Match::names && has(digit, "gpu_budget_relative");
  if (relative)
    for (const auto budget : {BudgetKey::parts_of_card, BudgetKey::whole_card}) {
      from.budget = to.budget = budget;
      if (is_open()) match_rest();
    }
  from.budget = to.budget = BudgetKey::bytes;
  if (is_open()) match_rest();
  return found;
}

}  // namespace

std::optional<ReplacedMachine> replaced_machine(const RunInfo& from, const RunInfo& to) {
  const auto before = machines_of(from), after = machines_of(to);
  const auto gone = only_missing(before, after), added = only_missing(after, before);
  if (!gone || !added) return std::nullopt;
  return ReplacedMachine{*gone, *added};
}

PointMap::PointMap(const Axes& from, const Axes& to, Match match,
                   std::optional<ReplacedMachine> replaced)
    : from_(&from), to_(&to), replaced_(std::move(replaced)) {
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
                                                    Match match) const {
  std::vector<std::string> columns = compared_columns_of(digit, match);
  Combinations all{&a, {}};
  for (std::size_t d = 0; d < a.digits.size(); ++d)
    if (std::ranges::any_of(columns, [&](const auto& c) { return has(a.digits[d], c); })) {
      all.digits.push_back(d);
      all.count *= static_cast<Size>(length(a.digits[d]));
      if (all.count > max_combinations) return std::nullopt;
    }
  // Empty axes that only one side has say nothing.
  std::erase_if(columns, [&](const auto& c) {
    return std::ranges::none_of(all.digits, [&](auto d) { return has(a.digits[d], c); });
  });
  auto positions =
      positions_of(all, digit, columns, {match, replaced_ ? &*replaced_ : nullptr}, {match});
  return Lookup{std::move(all.digits), std::move(positions)};
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
