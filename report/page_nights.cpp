// Trends of the matrix over the runs, on the page.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "report/diff.hpp"
#include "report/format.hpp"
#include "report/nights.hpp"
#include "report/page_parts.hpp"

namespace headroom::report {

constexpr std::size_t max_nights = 30;

Document nights_part(const Source& source) {
  constexpr std::size_t max_charts = 12, max_lines = 200;
  if (!run_before(*source.database, source.run.id)) return {};
  Pictures charts;
  std::size_t looked = 0;
  for (const ModelRow* line : source.shown) {
    if (++looked > max_lines || charts.pictures.size() == max_charts) break;
    const auto all = nights(*source.database, source.run.id, line->roomiest().point, max_nights);
    if (all.size() < 2) break;
    SvgChart chart{fmt::format("n{}", charts.pictures.size()),
                   fmt::format("{} in {} on {}", line->model, line->label, line->machine),
                   {},
                   "run",
                   "tokens/s",
                   {{"tokens/s", {}, {}}}};
    bool moved = false;
    double first = -1;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double speed = all[i].estimate ? std::max(0.0, all[i].estimate->tokens_s)
                                           : std::numeric_limits<double>::quiet_NaN();
      if (first < 0 && std::isfinite(speed)) first = speed;
      if (std::isfinite(speed) && std::abs(speed - first) > usual_threshold * first) moved = true;
      chart.series[0].points.emplace_back(static_cast<double>(i), speed);
      chart.x_labels.emplace_back(static_cast<double>(i), all[i].run.finished.substr(5, 5));
    }
    if (!moved) continue;
    const double now = chart.series[0].points.back().second;
    chart.description =
        fmt::format("from {} to {} tokens/s over {} runs", shown(first, DisplayUnit::plain),
                    shown(now, DisplayUnit::plain), all.size());
    charts.pictures.push_back({std::move(chart)});
  }
  if (charts.pictures.empty())
    return Document().paragraph(
        "No speed of the matrix moved by more than 1 % over the runs that are kept.");
  return Document()
      .paragraph(
          Text(fmt::format(
              "Answers of the matrix with a speed change above 1 % over the last {} runs at most. ",
              max_nights)) +
          code("headroom report") + " follows the trend of any point.")
      .add(std::move(charts));
}

}  // namespace headroom::report
