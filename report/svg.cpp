#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::report {
namespace {

constexpr double width = 640, height = 320, left = 62, right = 14, top = 14, bottom = 44;
constexpr std::string_view dashes[] = {"", "8 4", "2 3", "10 3 2 3", "5 5", "1 5"};

/// 1, 2 or 5 times a power of ten, so that about `ticks` of them make `range`.
double step_of(double range, int ticks) {
  const double raw = range / ticks;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw * 0.999) return factor * power;
  return 10 * power;
}

struct Scale {
  double low = 0, high = 1, from = 0, to = 1;
  double operator()(double value) const {
    return from + (value - low) / (high - low) * (to - from);
  }
};

/// Labels at the end of each curve, moved where they would overlap.
std::vector<double> apart(std::vector<double> wanted) {
  constexpr double least = 13;
  std::vector<std::size_t> order(wanted.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return wanted[i]; });
  double last = -std::numeric_limits<double>::infinity();
  for (const auto i : order) last = wanted[i] = std::max(wanted[i], last + least);
  const double over = last - (height - bottom);
  if (over > 0)
    for (double& y : wanted) y -= over;
  return wanted;
}

/// Ranges of the data, and the length of the longest label.
struct Extremes {
  double low_x = std::numeric_limits<double>::infinity(), high_x = -low_x, high_y = 0;
  std::size_t longest = 0;
};

Extremes extremes_of(const SvgChart& chart) {
  Extremes found;
  auto& [low_x, high_x, high_y, longest] = found;
  for (const auto& series : chart.series) {
    longest = std::max(longest, std::min<std::size_t>(series.label.size(), 22));
    for (const auto& [x, y] : series.points) {
      low_x = std::min(low_x, x);
      high_x = std::max(high_x, x);
      if (std::isfinite(y)) high_y = std::max(high_y, y);
    }
  }
  if (!(low_x < high_x)) high_x = low_x + 1;
  if (!(high_y > 0)) high_y = 1;
  return found;
}

std::string x_ticks(const SvgChart& chart, const Scale& x, const Scale& y) {
  std::string out;
  const auto tick_x = [&](double at, const std::string& label) {
    out += fmt::format(
        "<path class=\"axis\" d=\"M{:.1f} {:.1f}v5\"/><text class=\"soft\" x=\"{:.1f}\" "
        "y=\"{:.1f}\" "
        "text-anchor=\"middle\">{}</text>",
        x(at), y.from, x(at), y.from + 18, html_text(label));
  };
  if (chart.x_labels.empty()) {
    const double step_x = step_of(x.high - x.low, 7);
    for (double tick = std::ceil(x.low / step_x) * step_x; tick <= x.high * 1.0001; tick += step_x)
      tick_x(tick, fmt::format("{:.4g}", tick));
  } else {
    const auto every = chart.x_labels.size() / 6 + 1;
    for (std::size_t i = 0; i < chart.x_labels.size(); i += every)
      tick_x(chart.x_labels[i].first, chart.x_labels[i].second);
  }
  return out;
}

/// Grid, ticks, axes and their headings.
std::string axes_of(const SvgChart& chart, const Scale& x, const Scale& y, double step_y) {
  std::string out;
  for (double tick = 0; tick <= y.high * 1.0001; tick += step_y)
    out += fmt::format(
        "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/><text class=\"soft\" x=\"{:.1f}\" "
        "y=\"{:.1f}\" text-anchor=\"end\">{:.4g}</text>",
        x.from, y(tick), x.to, x.from - 6, y(tick) + 4, tick);
  out += x_ticks(chart, x, y);
  out += fmt::format(
      "<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" "
      "text-anchor=\"middle\">{}</text><text transform=\"translate(14 {:.1f}) rotate(-90)\" "
      "text-anchor=\"middle\">{}</text>",
      x.from, y.to, y.from, x.to, (x.from + x.to) / 2, height - 6, html_text(chart.x_heading),
      (y.from + y.to) / 2, html_text(chart.y_heading));
  return out;
}

/// Curve number `s` and its marks. Sets `end` to the height of its last point.
std::string curve_of(const SvgSeries& series, std::size_t s, const Scale& x, const Scale& y,
                     double& end) {
  std::string out;
  std::string path;
  bool on = false;
  for (const auto& [px, py] : series.points) {
    if (!std::isfinite(py)) {
      on = false;
      continue;
    }
    path += fmt::format("{}{:.1f} {:.1f}", on ? "L" : "M", x(px), y(py));
    end = y(py);
    on = true;
  }
  const auto colour = s % 6 + 1;
  const auto& dash = dashes[s % std::size(dashes)];
  out += fmt::format("<path class=\"curve s{}\"{} d=\"{}\"/>", colour,
                     dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash), path);
  for (const auto mark : series.marks)
    if (mark < series.points.size() && std::isfinite(series.points[mark].second))
      out += fmt::format("<circle class=\"curve s{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/>",
                         colour, x(series.points[mark].first), y(series.points[mark].second));
  return out;
}

std::string labels_of(const SvgChart& chart, const Scale& x, const std::vector<double>& ends) {
  std::string out;
  const auto places = apart(ends);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const auto& label = chart.series[s].label;
    out += fmt::format(
        "<path class=\"curve s{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/><text x=\"{:.1f}\" "
        "y=\"{:.1f}\">{}</text>",
        s % 6 + 1, x.to + 1, ends[s], x.to + 7, places[s], x.to + 9, places[s] + 4,
        html_text(label.size() > 22 ? label.substr(0, 21) + "…" : label));
  }
  return out;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else if (c == '\'')
      safe += "&#39;";
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t')
      safe += c;
  }
  return safe;
}

std::string svg(const SvgChart& chart) {
  const auto [low_x, high_x, high_y, longest] = extremes_of(chart);
  const double step_y = step_of(high_y, 5);
  const double label_width = 7.0 * static_cast<double>(longest) + 8;
  const Scale x{low_x, high_x, left, width - right - label_width};
  const Scale y{0, std::ceil(high_y / step_y) * step_y, height - bottom, top};
  std::string out = fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-labelledby=\"{}-t {}-d\">"
      "<title id=\"{}-t\">{}</title><desc id=\"{}-d\">{}</desc>",
      width, height, chart.id, chart.id, chart.id, html_text(chart.title), chart.id,
      html_text(chart.description));
  out += axes_of(chart, x, y, step_y);
  std::vector<double> ends(chart.series.size(), y.from);
  for (std::size_t s = 0; s < chart.series.size(); ++s)
    out += curve_of(chart.series[s], s, x, y, ends[s]);
  return out + labels_of(chart, x, ends) + "</svg>";
}

}  // namespace headroom::report
