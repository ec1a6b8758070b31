// Trends of the matrix over the runs, on the page.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "report/diff.hpp"
#include "report/format.hpp"
#include "report/nights.hpp"
#include "report/page_parts.hpp"
#include "report/svg.hpp"

namespace headroom::report {

constexpr std::size_t most_nights = 30;

std::string nights_part(const Source& source) {
  constexpr std::size_t most_charts = 12, most_lines = 200;
  if (!run_before(*source.database, source.run.id)) return "";
  std::string charts;
  std::size_t drawn = 0, looked = 0;
  for (const ModelRow* line : source.shown) {
    if (++looked > most_lines || drawn == most_charts) break;
    const auto all = nights(*source.database, source.run.id, line->roomiest().point, most_nights);
    if (all.size() < 2) break;
    SvgChart chart{fmt::format("n{}", drawn),
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
    charts +=
        fmt::format("<figure>{}<figcaption><strong>{}</strong><br>{}.</figcaption></figure>\n",
                    svg(chart), html_text(chart.title), html_text(chart.description));
    ++drawn;
  }
  if (charts.empty())
    return "<p>No speed of the matrix moved by more than 1 % over the runs that are kept.</p>";
  return fmt::format(
      "<p>Answers of the matrix whose speed moved by more than 1 % over the last {} runs at most. "
      "<code>headroom report --trend</code> follows any point.</p><div class=\"figures\">{}</div>",
      most_nights, charts);
}

}  // namespace headroom::report
