// A small result in memory: what a view's query gives, on its way to CSV, Markdown or a plot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/columns.hpp"

namespace headroom::report {

using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

/// `columns[i]` is the column that row[i] is a value of. A name that is no Column is a text of its
/// own.
struct Table {
  std::vector<std::string> names;
  std::vector<std::vector<Value>> rows;

  /// Index of the column. Throws std::out_of_range naming it.
  std::size_t index(std::string_view name) const;
};

/// A copy that owns its text.
Value owned(const Cell& cell);
inline Value optional_value(const std::optional<double>& value) {
  return value ? Value(*value) : Value();
}
/// As number; NaN where empty. Throws std::invalid_argument for text.
double number(const Value& value);
/// As text; empty where empty.
std::string text(const Value& value);

}  // namespace headroom::report
