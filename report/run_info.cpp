// Counting points, and digits with the facts that follow from their values.
#include "report/run_info.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "report/columns.hpp"
#include "report/table.hpp"

namespace headroom::report {
namespace {

constexpr Size max_points = Size{1} << 40;

template <class Getter, class Row>
Digit digit_of(std::string_view axis, std::span<const std::string> names,
               std::span<const Row* const> rows) {
  if (names.size() != rows.size())
    throw std::invalid_argument(
        fmt::format("axis {}: {} names for {} rows", axis, names.size(), rows.size()));
  Digit digit{{std::string(axis), {names.begin(), names.end()}}};
  for (const Column& c : columns()) {
    const auto* get = std::get_if<Getter>(&c.origin);
    if (!get) continue;
    Axis& fact = digit.emplace_back(Axis{std::string(c.name), {}});
    for (const Row* row : rows) fact.values.push_back(owned((*get)(*row)));
  }
  return digit;
}

}  // namespace

Size GridShape::points() const {
  Size all = 1;
  for (const Digit& d : digits) {
    const Size size = d.empty() ? 0 : static_cast<Size>(d.front().values.size());
    if (size > 0 && all > max_points / size)
      throw std::overflow_error("a grid of more than 2^40 points");
    all *= size;
  }
  return all;
}

Size RunInfo::points() const {
  Size all = 0;
  for (const GridShape& g : grids) all += g.points();
  if (all > max_points) throw std::overflow_error("grids of more than 2^40 points together");
  return all;
}

std::vector<const Column*> columns_of(const RunInfo& info) {
  bool trains = false, serves = false;
  for (const GridShape& grid : info.grids)
    for (const Digit& digit : grid.digits)
      for (const Axis& axis : digit) {
        const AppliesTo applies_to = find_column(axis.column)->applies_to;
        trains = trains || applies_to == AppliesTo::training ||
                 (axis.column == "task" && axis.values.front() == AxisValue("training"));
        serves = serves || applies_to == AppliesTo::serving;
      }
  std::vector<const Column*> all;
  for (const Column& c : columns())
    if (c.applies_to == AppliesTo::any || (c.applies_to == AppliesTo::training ? trains : serves))
      all.push_back(&c);
  return all;
}

Digit model_digit(std::span<const std::string> names, std::span<const model::Model* const> models) {
  return digit_of<OfModel>("model", names, models);
}
Digit machine_digit(std::span<const std::string> names, std::span<const Machine* const> machines,
                    const Prices* prices) {
  Digit digit = digit_of<OfMachine>("machine", names, machines);
  for (const Column& c : columns()) {
    const auto* get = std::get_if<OfPrices>(&c.origin);
    if (!get) continue;
    Axis& fact = digit.emplace_back(Axis{std::string(c.name), {}});
    for (const Machine* machine : machines)
      fact.values.push_back(prices ? owned((*get)(*prices, *machine)) : AxisValue());
  }
  return digit;
}
Digit runtime_digit(std::span<const std::string> names,
                    std::span<const model::Engine* const> runtimes) {
  return digit_of<OfRuntime>("runtime", names, runtimes);
}

}  // namespace headroom::report
