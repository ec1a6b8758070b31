#include "hardware/sorted_table.hpp"

#include <algorithm>

namespace headroom {

std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

SortedTable::SortedTable(std::string_view text) : text_(text) {
  while (text_.starts_with('#')) take_line(text_);
}

std::string_view SortedTable::rows(std::string_view prefix) const {
  std::size_t low = 0, high = text_.size();  // both at the start of a line, or at the end
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const auto before = text_.substr(0, middle).rfind('\n');
    const std::size_t start = before == std::string_view::npos || before < low ? low : before + 1;
    std::string_view rest = text_.substr(start);
    const std::size_t bytes = rest.size();
    const std::string_view line = take_line(rest);
    if (line < prefix)
      low = start + bytes - rest.size();
    else
      high = start;
  }
  std::string_view rest = text_.substr(low);
  while (!rest.empty() && rest.starts_with(prefix)) take_line(rest);
  return text_.substr(low, text_.size() - low - rest.size());
}

std::string_view SortedTable::row(std::string_view prefix) const {
  std::string_view found = rows(prefix);
  if (found.empty()) return {};
  return take_line(found).substr(prefix.size());
}

std::string_view SortedTable::first_unsorted() const {
  std::string_view rest = text_, last;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line < last) return line;
    last = line;
  }
  return {};
}

}  // namespace headroom
