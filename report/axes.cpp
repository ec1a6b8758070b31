// Mixed radix digits of a point within its grid.
#include "report/axes.hpp"

#include <algorithm>

#include "report/format.hpp"

namespace headroom::report {

Axes::Axes(RunInfo info) : info_(std::move(info)) {
  Size first = 0;
  for (const GridShape& grid : info_.grids) {
    Size stride = grid.points();
    first_.push_back(first);
    first += stride;
    auto& places = places_.emplace_back();
    for (const Digit& digit : grid.digits) {
      const auto size = static_cast<Size>(digit.front().values.size());
      stride /= size;
      places.push_back({size, stride});
    }
    auto& names = columns_.emplace_back();
    for (std::size_t d = 0; d < grid.digits.size(); ++d)
      for (std::size_t a = 0; a < grid.digits[d].size(); ++a)
        names.try_emplace(grid.digits[d][a].column, d, a);
  }
}

std::size_t Axes::grid_of(Size point) const {
  const auto after = std::ranges::upper_bound(first_, point);
  return static_cast<std::size_t>(after - first_.begin()) - 1;
}

const AxisValue* Axes::value(std::string_view column, Size point) const {
  const auto grid = grid_of(point);
  const auto found = columns_[grid].find(column);
  if (found == columns_[grid].end()) return nullptr;
  const auto [digit, axis] = found->second;
  return &info_.grids[grid]
              .digits[digit][axis]
              .values[static_cast<std::size_t>(position(grid, digit, point))];
}

Cell Axes::cell(const Column& column, Size point, const model::Estimate& estimate,
                const model::IntervalFactors& factors) const {
  if (column.kind == ColumnKind::point) return point;
  if (column.kind == ColumnKind::outcome || column.kind == ColumnKind::derived)
    return value_of(column, estimate, factors);
  const AxisValue* found = value(column.name, point);
  return found ? cell_of(*found) : Cell();
}

model::IntervalFactors Axes::factors(Size point) const {
  const auto of = [&](std::string_view low, std::string_view high, std::string_view measurements) {
    return model::Interval{number_of(value(low, point), 1), number_of(value(high, point), 1),
                           static_cast<int>(number_of(value(measurements, point), 0))};
  };
  const AxisValue* source = value("interval_source", point);
  const bool stated = number_of(value("ram_stated", point), 0) > 0;
  return {of("memory_low", "memory_high", "memory_measurements"),
          of("load_low", "load_high", "load_measurements"),
          of("ttft_low", "ttft_high", "ttft_measurements"),
          of("tpot_low", "tpot_high", "tpot_measurements"),
          stated ? of("ram_stated_low", "ram_stated_high", "ram_stated_measurements")
                 : of("offload_low", "offload_high", "offload_measurements"),
          of("serving_ttft_low", "serving_ttft_high", "serving_ttft_measurements"),
          of("serving_tpot_low", "serving_tpot_high", "serving_tpot_measurements"),
          of("serving_rate_low", "serving_rate_high", "serving_rate_measurements"),
          source && std::holds_alternative<std::string>(*source) ? std::get<std::string>(*source)
                                                                 : std::string_view()};
}

Cell cell_of(const AxisValue& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) return *n;
  if (const auto* x = std::get_if<double>(&value)) return *x;
  if (const auto* s = std::get_if<std::string>(&value)) return std::string_view(*s);
  return {};
}

std::string text_of(const AxisValue* value) {
  if (!value) return {};
  if (const auto* n = std::get_if<std::int64_t>(value)) return shortest(*n);
  if (const auto* x = std::get_if<double>(value)) return shortest(*x);
  if (const auto* s = std::get_if<std::string>(value)) return *s;
  return {};
}

double number_of(const AxisValue* value, double otherwise) {
  if (!value) return otherwise;
  if (const auto* n = std::get_if<std::int64_t>(value)) return static_cast<double>(*n);
  if (const auto* x = std::get_if<double>(value)) return *x;
  return otherwise;
}

}  // namespace headroom::report
