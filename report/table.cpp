// Values of a table as numbers and texts.
#include "report/table.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "report/format.hpp"

namespace headroom::report {

std::size_t Table::index(std::string_view name) const {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw std::out_of_range("a table without column " + std::string(name));
  return static_cast<std::size_t>(found - names.begin());
}

Value owned(const Cell& cell) {
  if (const auto* n = std::get_if<std::int64_t>(&cell)) return *n;
  if (const auto* x = std::get_if<double>(&cell)) return *x;
  if (const auto* s = std::get_if<std::string_view>(&cell)) return std::string(*s);
  return {};
}

double number(const Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) return static_cast<double>(*n);
  if (const auto* x = std::get_if<double>(&value)) return *x;
  if (std::holds_alternative<std::string>(value))
    throw std::invalid_argument("'" + std::get<std::string>(value) + "' is not a number");
  return std::numeric_limits<double>::quiet_NaN();
}

std::string text(const Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) return shortest(*n);
  if (const auto* x = std::get_if<double>(&value)) return shortest(*x);
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  return {};
}

}  // namespace headroom::report
