// Rounding for readers, and std::to_chars for machines.
#include "report/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace headroom::report {
namespace {

template <class Number>
std::string digits(Number value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// Three significant digits, no exponent: 0.0123, 1.23, 12.3, 123, 12345.
std::string significant(double value) {
  if (value == 0) return "0";
  const int before = static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(3 - before, 0, 9));
}

}  // namespace

std::string shortest(std::int64_t value) { return digits(value); }
std::string shortest(double value) { return digits(value); }

std::string shown(double value, DisplayUnit how) {
  if (!std::isfinite(value)) return "";
  switch (how) {
    case DisplayUnit::gib:
      return fmt::format("{:.2f}", value / GiB);
    case DisplayUnit::milliseconds:
      return significant(value * 1e3);
    case DisplayUnit::percent:
      return fmt::format("{:.0f} %", value * 100);
    case DisplayUnit::billions:
      return fmt::format("{:.2f}", value / 1e9);
    default:
      return significant(value);
  }
}

std::string_view shown_unit(const Column& column) {
  switch (column.shown) {
    case DisplayUnit::gib:
      return "GiB";
    case DisplayUnit::milliseconds:
      return "ms";
    case DisplayUnit::seconds:
      return "s";
    case DisplayUnit::billions:
      return "billions";
    case DisplayUnit::percent:
      return "";
    default:
      return column.unit;
  }
}

std::string heading(const Column& column) {
  const auto unit = shown_unit(column);
  return unit.empty() || unit == column.heading ? std::string(column.heading)
                                                : fmt::format("{} ({})", column.heading, unit);
}

}  // namespace headroom::report
