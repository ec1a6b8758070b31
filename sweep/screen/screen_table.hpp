// Tables that fit on a screen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace headroom::sweep {

/// Lines of a first screen: the answer is read without scrolling.
constexpr std::ptrdiff_t screen_lines = 30;

struct ScreenColumn {
  std::string heading;
  bool right = false;
  int importance = always;  ///< the least important go first where lines are too long
  std::vector<std::string> cells;

  static constexpr int always = 9;  ///< never left out
};

/// Columns side by side, without as many as it takes for lines of at most screen_width.
std::string screen_table(std::vector<ScreenColumn> columns);
/// Rows likewise; `columns` are without cells.
std::string screen_table(std::vector<ScreenColumn> columns,
                         const std::vector<std::vector<std::string>>& rows);

}  // namespace headroom::sweep
