#include "report/chart_labels.hpp"

#include <algorithm>

namespace headroom::report {

Box label_place(double x, double y, std::size_t letters, bool up, std::span<const Box> taken) {
  constexpr double letter = 6.3, line = 14, gap = 7;
  const double width = letter * static_cast<double>(letters);
  const bool left = x > (up ? 0.25 : 0.7) * panel_width;
  Box first{};
  for (int step = 0; step < 24; ++step) {
    const bool to_left = left == (step % 2 == 0);
    const bool above = up == (step % 4 < 2);
    const double away = gap + line * (step / 4);
    const double from = to_left ? x - gap - width : x + gap;
    const double bottom = above ? y + away : y - away - line;
    const Box box{from, from + width, bottom, bottom + line};
    if (step == 0) first = box;
    const bool inside =
        box.left >= 0 && box.right <= panel_width && box.bottom >= 0 && box.top <= panel_height;
    if (inside && std::ranges::none_of(taken, [&](const Box& b) { return b.meets(box); }))
      return box;
  }
  return first;
}

}  // namespace headroom::report
