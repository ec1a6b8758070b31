// Numbers as text: exact and shortest for machines, rounded in a stated unit for readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "report/columns.hpp"

namespace headroom::report {

/// The shortest digits that read back as the same number.
std::string shortest(std::int64_t value);
std::string shortest(double value);

/// `value` (in the column's own unit) for a reader: "37.25" GiB, "12.3" ms, "41 %". The heading has
/// the unit, except percent signs. Values other than counts have three significant digits.
std::string shown(double value, DisplayUnit how);
/// "GiB", "ms", "s", "billions"; for plain the column's own unit.
std::string_view shown_unit(const Column& column);
/// "GPU memory (GiB)".
std::string heading(const Column& column);

}  // namespace headroom::report
