#include "sweep/screen/screen_table.hpp"

#include <algorithm>
#include <string_view>

#include "hardware/text.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

std::string side_by_side(const std::vector<ScreenColumn>& columns) {
  std::vector<std::string> headings;
  std::vector<bool> right;
  std::vector<std::vector<std::string>> rows(columns.front().cells.size());
  for (const ScreenColumn& column : columns) {
    headings.push_back(column.heading);
    right.push_back(column.right);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(column.cells[i]);
  }
  return aligned(headings, right, rows);
}

bool fits_screen(std::string_view text) {
  return std::ranges::all_of(words(text, "\n"),
                             [](auto line) { return text_width(line) <= screen_width; });
}

}  // namespace

std::string screen_table(std::vector<ScreenColumn> columns) {
  std::string text = side_by_side(columns);
  while (!fits_screen(text)) {
    const auto least = std::ranges::min_element(columns, {}, &ScreenColumn::importance);
    if (least->importance == ScreenColumn::always) break;
    columns.erase(least);
    text = side_by_side(columns);
  }
  return text;
}

std::string screen_table(std::vector<ScreenColumn> columns,
                         const std::vector<std::vector<std::string>>& rows) {
  for (const auto& row : rows)
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(row[i]);
  return screen_table(std::move(columns));
}

}  // namespace headroom::sweep
