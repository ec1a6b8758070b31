// Three panels over one axis of allocations: tokens/s, time to first token, load time.
//
// Colours are Okabe and Ito's (https://jfly.uni-koeln.de/color/), without yellow, which is
// invisible on white paper. Dashes and symbols distinguish curves without colour.
#include "report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/infer/intervals.hpp"
#include "report/chart_labels.hpp"
#include "report/format.hpp"

namespace headroom::report {
namespace {

constexpr std::array symbols = {7, 5, 9, 13, 11, 15, 3};
constexpr std::array dashes = {"1", "2", "4", "5", "3", "1", "2"};
/// A panel whose values span more than this has a logarithmic axis.
constexpr double logarithmic_from = 20;
/// The axis of allocations reaches so far beyond the last.
constexpr double axis_room = 1.02;

struct Panel {
  std::string_view axis;
  double CurvePoint::*value;
  int column;  ///< in the data file
};
constexpr Panel panels[] = {{"output tokens/s", &CurvePoint::tokens_s, 2},
                            {"time to first token (s)", &CurvePoint::ttft_s, 3},
                            {"load time (s)", &CurvePoint::load_s, 4}};

struct Range {
  double low = 0, high = 1;
  bool logarithmic = false;
};

Range range_of(const Figure& figure, const Panel& panel) {
  double least = INFINITY, most = 0;
  for (const Curve& curve : figure.curves)
    for (const CurvePoint& p : curve.points) {
      const double v = p.*panel.value;
      if (!std::isfinite(v) || v <= 0) continue;
      const auto [low, high] = figure.bands ? band(p, panel.value) : std::pair(v, v);
      least = std::min(least, low);
      most = std::max(most, high);
    }
  if (most == 0) return {};
  if (most / least > logarithmic_from) return {least / 1.5, most * 1.5, true};
  return {0, most * 1.12, false};
}

std::string key_text(const Curve& curve) {
  if (std::ranges::none_of(curve.points, &CurvePoint::fits)) return curve.label + ", fits nowhere";
  if (!curve.knee) return curve.label + ", still rising at the end";
  const CurvePoint& p = curve.points[curve.knee->index];
  const auto speed = [&](double factor) { return shown(p.tokens_s / factor, DisplayUnit::plain); };
  return fmt::format("{}, {} at {:.3g} GiB{}: {} tokens/s ({} to {})", curve.label,
                     curve.knee->index == 0 ? "best" : "knee", p.allocation,
                     curve.knee->index == 0 ? " already" : "", speed(1), speed(p.times.tpot.high),
                     speed(p.times.tpot.low));
}

double greatest_allocation(const Figure& figure) {
  double most = 1;
  for (const Curve& curve : figure.curves)
    for (const CurvePoint& p : curve.points) most = std::max(most, p.allocation);
  return most;
}

bool anything_short(const Figure& figure) {
  return std::ranges::any_of(figure.curves, [](const Curve& c) {
    return !std::ranges::all_of(c.points, &CurvePoint::fits);
  });
}

/// Points: `normal`, or what lets a long line end within the figure (0.77 pixels a point and
/// letter).
double font_size(std::string_view line, double normal) {
  constexpr double width = 790, letter = 0.77;
  return std::min(normal,
                  std::floor(10 * width / (letter * static_cast<double>(line.size() + 1))) / 10);
}

std::string styles(const Figure& figure) {
  std::string script;
  for (std::size_t i = 0; i < figure.curves.size(); ++i) {
    // After one round of colours the dashes and symbols are shifted, so that no two curves are
    // alike.
    const std::size_t round = i / colours.size();
    script += fmt::format("set style line {} lc rgb '{}' dt {} lw 2 pt {} ps 0.8\n", i + 1,
                          colours[i % colours.size()], dashes[(i + round) % dashes.size()],
                          symbols[(i + 3 * round) % symbols.size()]);
  }
  return script;
}

/// The height, as a share of a panel, at which the crosses of a curve stand.
double cross_height(std::size_t curve) { return 0.04 + 0.045 * static_cast<double>(curve % 8); }

std::string plot_command(const Figure& figure, const Panel& panel, const Range& range) {
  std::string script = "plot ";
  const bool first = panel.column == 2;
  const auto title = [&](const std::string& text) {
    return first ? "title " + gnuplot_string(text) : std::string("notitle");
  };
  for (std::size_t i = 0; figure.bands && i < figure.curves.size(); ++i)
    script += fmt::format(
        "data index {} using 1:{}:{} with filledcurves lc rgb '{}' fs transparent solid 0.12 "
        "notitle, \\\n     ",
        figure.curves.size() + i, 2 * panel.column - 2, 2 * panel.column - 1,
        colours[i % colours.size()]);
  for (std::size_t i = 0; i < figure.curves.size(); ++i) {
    const Curve& curve = figure.curves[i];
    const auto every = std::max<std::size_t>(1, curve.points.size() / 12);
    if (curve.between == Between::step)
      script += fmt::format(
          "data index {0} using 1:{1} with steps ls {2} notitle, \\\n     data index {0} using "
          "1:{1} with points ls {2} pi {3} notitle, \\\n     NaN with linespoints ls {2} {4}, "
          "\\\n     ",
          i, panel.column, i + 1, every, title(key_text(curve)));
    else
      script += fmt::format("data index {} using 1:{} with linespoints ls {} pi {} {}, \\\n     ",
                            i, panel.column, i + 1, every, title(key_text(curve)));
    script += fmt::format(
        "data index {} using 1:{} with points lc rgb '{}' pt 6 ps 2.2 lw 2 notitle, \\\n     ", i,
        panel.column + 3, colours[i % colours.size()]);
    const double height = cross_height(i);
    const double at = range.logarithmic ? range.low * std::pow(range.high / range.low, height)
                                        : range.low + height * (range.high - range.low);
    script += fmt::format(
        "data index {} using 1:($8 > 0 ? {:g} : NaN) with points lc rgb '{}' pt 2 ps 0.8 lw 1.5 "
        "notitle, \\\n     ",
        i, at, colours[i % colours.size()]);
  }
  if (first) {
    script += "NaN with points lc rgb '#555555' pt 6 ps 2.2 lw 2 title 'knee'";
    if (anything_short(figure))
      script +=
          ", \\\n     NaN with points lc rgb '#555555' pt 2 ps 0.8 lw 1.5 title 'does not run'";
    return script + "\n";
  }
  return script + "NaN notitle\n";
}

/// True if no other curve is faster with the allocation of `p`.
bool topmost(const Figure& figure, const Curve& curve, const CurvePoint& p) {
  for (const Curve& other : figure.curves)
    for (auto at = other.points.rbegin(); &other != &curve && at != other.points.rend(); ++at)
      if (at->allocation <= p.allocation) {
        if (at->tokens_s > p.tokens_s) return false;
        break;
      }
  return true;
}

/// Labels at points of the curves.
std::string mark_labels(const Figure& figure, const Range& range) {
  const auto height = [&](double v) {
    return panel_height * (range.logarithmic
                               ? std::log(v / range.low) / std::log(range.high / range.low)
                               : (v - range.low) / (range.high - range.low));
  };
  const double scale = panel_width / (axis_room * greatest_allocation(figure));
  std::vector<Box> taken;
  std::string script;
  int label = 10;
  for (std::size_t i = 0; i < figure.curves.size(); ++i)
    for (const Curve::Mark& mark : figure.curves[i].marks) {
      const CurvePoint& p = figure.curves[i].points[mark.index];
      if (!p.fits) continue;
      taken.push_back(label_place(scale * p.allocation, height(p.tokens_s), mark.text.size(),
                                  topmost(figure, figure.curves[i], p), taken));
      const Box& box = taken.back();
      script += fmt::format(
          "set label {} {} at graph {:.4f}, graph {:.4f} left font ',9' textcolor rgb '{}'\n",
          label++, gnuplot_string(mark.text), box.left / panel_width,
          (box.bottom + box.top) / 2 / panel_height, colours[i % colours.size()]);
    }
  return script;
}

std::string panel_script(const Figure& figure, const Panel& panel, double top, double bottom,
                         bool last) {
  const Range range = range_of(figure, panel);
  std::string script = fmt::format(
      "set tmargin at screen {:.4f}\nset bmargin at screen {:.4f}\nset ylabel {}\n"
      "unset logscale y\nset yrange [{:g}:{:g}]\n",
      top, bottom, gnuplot_string(panel.axis), range.low, range.high);
  script += range.logarithmic ? fmt::format("set logscale y 10\nset ytics ({})\n",
                                            logarithmic_ticks(range.low, range.high))
                              : std::string("set ytics autofreq\n");
  script += last ? fmt::format("set xlabel 'GPU allocation{} (GiB)'\nset format x '%g'\n",
                               figure.gpus > 1 ? " on each GPU" : "")
                 : "unset xlabel\nset format x ''\n";
  const bool first = panel.column == 2;
  return script + (first ? mark_labels(figure, range) : "") + plot_command(figure, panel, range) +
         "unset key\n" + (first ? "unset label\n" : "");
}

}  // namespace

std::pair<double, double> band(const CurvePoint& p, double CurvePoint::*value) {
  if (value == &CurvePoint::tokens_s)
    return {p.tokens_s / p.times.tpot.high, p.tokens_s / p.times.tpot.low};
  const model::Interval& of = value == &CurvePoint::ttft_s ? p.times.ttft : p.times.load;
  return {p.*value * of.low, p.*value * of.high};
}

std::string gnuplot_string(std::string_view text) {
  std::string out = "'";
  for (const char c : text)
    out += c == '\'' ? std::string("''") : std::string(1, c == '\n' ? ' ' : c);
  return out + "'";
}

std::string logarithmic_ticks(double low, double high) {
  const bool crowded = high / low > 2000;
  std::string list;
  for (double decade = std::pow(10, std::floor(std::log10(low))); decade <= high; decade *= 10)
    for (const double step : {1.0, 2.0, 5.0}) {
      const double tick = step * decade;
      if (tick < low || tick > high || (crowded && step > 1)) continue;
      list += fmt::format("{}{:g}", list.empty() ? "" : ", ", tick);
    }
  return list;
}

std::string chart_script(const Figure& figure) {
  // Pixels: title and key above, three panels, the axis label below.
  const auto rows = static_cast<double>(figure.curves.size() + (anything_short(figure) ? 2 : 1));
  const double key = 22 * rows, head = 64 + key, foot = 72, panel = panel_height, gap = 16;
  const double height = head + 3 * panel + 2 * gap + foot;
  std::string script = fmt::format(
      "# {}\n# Draws {}.png and {}.svg from {}.dat: gnuplot {}.gp\n"
      "data = {}\nset encoding utf8\nset termoption noenhanced\n",
      figure.title, figure.stem, figure.stem, figure.stem, figure.stem,
      gnuplot_string(figure.stem + ".dat"));
  script += fmt::format(
      "do for [kind in 'png svg'] {{\n"
      "if (kind eq 'png') {{ set terminal pngcairo noenhanced size 900,{0:.0f} font 'sans,11' "
      "background '#ffffff' }}\n"
      "if (kind eq 'svg') {{ set terminal svg noenhanced size 900,{0:.0f} font 'sans,12' "
      "background '#ffffff' }}\n"
      "set output {1}.'.'.kind\n",
      height, gnuplot_string(figure.stem));
  script +=
      "set multiplot\nset lmargin at screen 0.1\nset rmargin at screen 0.97\n" + styles(figure);
  script += fmt::format(
      "set label 1 {} at screen 0.1, screen {:.4f} left font ',{}'\n"
      "set label 2 {} at screen 0.1, screen {:.4f} left font ',{}' textcolor rgb '#444444'\n",
      gnuplot_string(figure.title), 1 - 20 / height, font_size(figure.title, 14),
      gnuplot_string(figure.subtitle), 1 - 42 / height, font_size(figure.subtitle, 11));
  script += fmt::format(
      "set key at screen 0.1, screen {:.4f} left top Left reverse vertical "
      "maxcols 1 samplen 5 spacing 1.15 noautotitle\n",
      1 - 56 / height);
  script += fmt::format(
      "set xrange [0:{:g}]\nset xtics autofreq\nset mxtics 2\n"
      "set grid xtics ytics lc rgb '#dddddd' lt 1 lw 1\nset border 3\n"
      "set tics nomirror out\n",
      axis_room * greatest_allocation(figure));
  double top = height - head;
  for (const Panel& p : panels) {
    script += panel_script(figure, p, top / height, (top - panel) / height, &p == &panels[2]);
    top -= panel + gap;
  }
  return script + "unset multiplot\nunset output\nreset\n}\n";
}

}  // namespace headroom::report
