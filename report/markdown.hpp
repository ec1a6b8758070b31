// Tables as Markdown. Numbers are rounded for readers and right-aligned, memory in GiB; headings
// and units come from the column list:
//
//   | model | weights (GiB) | first token (ms) |
//   | --- | ---: | ---: |
//   | Qwen/Qwen3-32B | 61.02 | 412 |
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/table.hpp"

namespace headroom::report {

/// Text of users and of models, safe inside a table cell.
std::string markdown_text(std::string_view text);
/// A value rounded as its column says, not escaped. A name that is no column has its text.
std::string shown_value(std::string_view column, const Value& value);

std::string markdown(const Table& table);
/// Cells that are finished already; `right` says which columns are numbers.
std::string markdown(const std::vector<std::string>& headings, const std::vector<bool>& right,
                     const std::vector<std::vector<std::string>>& rows);

}  // namespace headroom::report
