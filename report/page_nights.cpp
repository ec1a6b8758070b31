// Trends of the matrix over the runs, on the page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "report/diff.hpp"
#include "report/format.hpp"
#include "report/nights.hpp"
#include "report/output_cost.hpp"
#include "report/page_parts.hpp"

namespace headroom::report {

constexpr std::size_t max_nights = 30;

namespace {

constexpr std::size_t max_charts = 12, max_lines = 200;

/// One line of a chart: figures by run, oldest first; NaN: none there.
struct Trend {
  std::string label;
  std::vector<double> values;

  /// The first and the last figure that are known; nothing where there is none.
  std::optional<std::pair<double, double>> ends() const {
    const auto known = [](double v) { return std::isfinite(v); };
    const auto first = std::ranges::find_if(values, known);
    if (first == values.end()) return std::nullopt;
    return std::pair(*first, *std::find_if(values.rbegin(), values.rend(), known));
  }
  /// True if one differs from the first by more than the threshold of a diff.
  bool moved() const {
    const auto both = ends();
    return both && std::ranges::any_of(values, [&](double v) {
             return std::isfinite(v) && std::abs(v - both->first) > usual_threshold * both->first;
           });
  }
};

SvgChart chart_of(std::string id, std::string title, std::string unit,
                  const std::vector<Night>& nights, const std::vector<Trend>& trends) {
  SvgChart chart{std::move(id), std::move(title), {}, "run", std::move(unit), {}};
  for (const Trend& trend : trends) {
    auto& series = chart.series.emplace_back(SvgSeries{trend.label, {}, {}});
    for (std::size_t i = 0; i < trend.values.size(); ++i)
      series.points.emplace_back(static_cast<double>(i), trend.values[i]);
    const auto [first, last] = *trend.ends();
    chart.description +=
        fmt::format("{}{}from {} to {} {} over {} runs", chart.description.empty() ? "" : "; ",
                    trends.size() > 1 ? trend.label + " " : "", shown(first, DisplayUnit::plain),
                    shown(last, DisplayUnit::plain), chart.y_heading, nights.size());
  }
  for (std::size_t i = 0; i < nights.size(); ++i)
    chart.x_labels.emplace_back(static_cast<double>(i), nights[i].run.finished.substr(5, 5));
  return chart;
}

/// Speeds of the matrix that moved.
Pictures speed_charts(const Source& source, const Nights& nights) {
  Pictures charts;
  std::size_t looked = 0;
  for (const ModelRow* line : source.shown) {
    if (++looked > max_lines || charts.pictures.size() == max_charts) break;
    const auto all = nights.of(line->roomiest().point);
    Trend speed{"tokens/s", {}};
    for (const Night& night : all)
      speed.values.push_back(night.estimate ? std::max(0.0, night.estimate->tokens_s)
                                            : std::numeric_limits<double>::quiet_NaN());
    if (!speed.moved()) continue;
    charts.pictures.push_back(
        {chart_of(fmt::format("n{}", charts.pictures.size()),
                  fmt::format("{} in {} on {}", line->model, line->label, line->machine),
                  "tokens/s", all, {speed})});
  }
  return charts;
}

/// Hourly costs of machines, where they changed.
Pictures price_charts(const Source& source, const Nights& nights) {
  Pictures charts;
  std::vector<const Column*> prices;
  for (const auto name : hourly_columns) prices.push_back(find_column(name));
  for (const MachineLines& machine : by_machine(source.shown)) {
    if (charts.pictures.size() == max_charts) break;
    const Size point = machine.models.front().front()->roomiest().point;
    const std::string currency = text_of(source.axes.value("currency", point));
    if (currency.empty()) break;
    const auto all = nights.of(point, prices);
    std::vector<Trend> moved;
    for (std::size_t p = 0; p < prices.size(); ++p) {
      Trend trend{std::string(prices[p]->heading), {}};
      for (const Night& night : all) trend.values.push_back(number(night.values[p]));
      if (trend.moved()) moved.push_back(std::move(trend));
    }
    if (moved.empty()) continue;
    charts.pictures.push_back(
        {chart_of(fmt::format("p{}", charts.pictures.size()), "Price of " + machine.machine,
                  currency + "/h", all, moved)});
  }
  return charts;
}

}  // namespace

Document nights_part(const Source& source) {
  const Nights nights(*source.database, source.run.id, max_nights);
  if (nights.count() < 2) return {};
  Document part;
  if (Pictures speeds = speed_charts(source, nights); speeds.pictures.empty())
    part.paragraph("No speed of the matrix moved by more than 1 % over the runs that are kept.");
  else
    part.paragraph(
            Text(fmt::format("Answers of the matrix with a speed change above 1 % over the last {} "
                             "runs at most. ",
                             max_nights)) +
            code("headroom report") + " follows the trend of any point.")
        .add(std::move(speeds));
  if (Pictures prices = price_charts(source, nights); !prices.pictures.empty())
    part.paragraph("Machines with a price change above 1 % over these runs.")
        .add(std::move(prices));
  return part;
}

}  // namespace headroom::report
