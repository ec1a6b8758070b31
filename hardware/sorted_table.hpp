// Embedded tables whose lines are sorted: a row is found by binary search, without an index.
#pragma once

#include <string_view>

namespace headroom {

/// Lines sorted by their bytes (`LC_ALL=C sort`), below a heading of lines that start with '#'.
class SortedTable {
 public:
  explicit SortedTable(std::string_view text);
  /// The lines that start with `prefix`: one piece of text, empty where there are none.
  std::string_view rows(std::string_view prefix) const;
  /// The first such line after its prefix, without the line's end; empty where there are none.
  std::string_view row(std::string_view prefix) const;
  /// The first line that is not sorted; empty where all are.
  std::string_view first_unsorted() const;

 private:
  std::string_view text_;  ///< without the heading
};

/// Removes the first line of `text` and returns it without its end.
std::string_view take_line(std::string_view& text);

}  // namespace headroom
