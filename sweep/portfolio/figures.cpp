// Figures of a portfolio: frontiers, and what the cost depends on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/chart.hpp"
#include "report/curve.hpp"
#include "report/format.hpp"
#include "report/pareto.hpp"
#include "sweep/portfolio/report.hpp"

namespace headroom::sweep {
namespace {

/// Start of every figure: data, terminals, title.
std::string opening(const std::string& stem, const std::string& title, const std::string& subtitle,
                    int height, double left) {
  using report::gnuplot_string;
  return fmt::format(
      "# {0}\n# Draws {1}.png and {1}.svg from {1}.dat: gnuplot {1}.gp\ndata = {2}\n"
      "set encoding utf8\nset termoption noenhanced\ndo for [kind in 'png svg'] {{\n"
      "if (kind eq 'png') {{ set terminal pngcairo noenhanced size 900,{5} font 'sans,11' "
      "background '#ffffff' }}\n"
      "if (kind eq 'svg') {{ set terminal svg noenhanced size 900,{5} font 'sans,12' background "
      "'#ffffff' }}\n"
      "set output {3}.'.'.kind\n"
      "set lmargin at screen {7}\nset rmargin at screen 0.97\nset tmargin 4\n"
      "set label 1 {4} at screen {8}, graph 1 left offset 0,2.4 font ',14'\n"
      "set label 2 {6} at screen {8}, graph 1 left offset 0,1.1 textcolor rgb '#444444'\n"
      "set border 3\nset tics nomirror out\n"
      "set grid xtics ytics lc rgb '#dddddd' lt 1 lw 1\n",
      title, stem, gnuplot_string(stem + ".dat"), gnuplot_string(stem), gnuplot_string(title),
      height, gnuplot_string(subtitle), left, std::min(left, 0.1));
}

// Six dashes and seven colours distinguish 42 machines.
constexpr int symbols[] = {7, 5, 9, 13, 11, 15};

report::Drawing frontier(const Portfolio& p, std::string stem, const std::string& title,
                         const std::string& vertical, std::span<const Operation> all,
                         const CoordinatePairs& points, double sign) {
  const auto best = report::pareto(points);
  report::Drawing drawing{std::move(stem), "# tokens_s_user " + vertical + " cards batch\n", ""};
  const auto line = [&](std::size_t i) {
    drawing.data +=
        fmt::format("{} {} {} {}\n", report::shortest(points[i].first),
                    report::shortest(sign * points[i].second), all[i].cards, all[i].batch);
  };
  for (const std::size_t i : best) line(i);
  drawing.script = opening(
      drawing.stem, title,
      "a point: a machine, cards of a copy, a batch within the targets; the line: the Pareto front",
      560 + 10 * static_cast<int>(p.machines.size()), 0.1);
  const auto axis = [&](char name, auto value) {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const auto& each : points) {
      const double v = value(each);
      if (std::isnan(v)) continue;
      low = std::min(low, v / 1.2);
      high = std::max(high, v * 1.2);
    }
    const bool logarithmic = high > 12 * low;
    drawing.script +=
        fmt::format("set {0}range [{1:.6g}:{2:.6g}]\n", name, logarithmic ? low : 0, high);
    if (logarithmic)
      drawing.script += fmt::format("set logscale {0}\nset {0}tics ({1})\n", name,
                                    report::logarithmic_ticks(low, high));
  };
  axis('x', [](const auto& each) { return each.first; });
  axis('y', [&](const auto& each) { return sign * each.second; });
  drawing.script += fmt::format(
      "set xlabel 'output tokens/s of one user'\nset ylabel {}\n"
      "set key outside below left Left reverse maxcols 2 samplen 2 height 1\n"
      "plot data index 0 using 1:2 with lines lc rgb '#777777' lw 2 title 'frontier'",
      report::gnuplot_string(vertical));
  int block = 1;
  for (std::size_t m = 0; m < p.machines.size(); ++m) {
    std::string here;
    std::swap(here, drawing.data);
    drawing.data = "\n\n# " + p.machines[m]->name + '\n';
    const std::size_t empty = drawing.data.size();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].machine == m && !std::isnan(points[i].second)) line(i);
    const bool any = drawing.data.size() > empty;
    drawing.data = here + (any ? drawing.data : "");
    if (!any) continue;
    const auto style = static_cast<std::size_t>(block - 1);
    drawing.script += fmt::format(
        ", \\\n     data index {} using 1:2 with points lc rgb '{}' pt {} ps 0.9 title {}", block++,
        report::colours[style % std::size(report::colours)], symbols[style % std::size(symbols)],
        report::gnuplot_string(p.machines[m]->name));
  }
  drawing.script += "\nunset output\nreset\n}\n";
  return drawing;
}

}  // namespace

CoordinatePairs by_cards(std::span<const Operation> all) {
  CoordinatePairs points;
  for (const Operation& each : all) points.emplace_back(each.tokens_s_user, each.tokens_s_gpu);
  return points;
}
CoordinatePairs by_money(std::span<const Operation> all) {
  CoordinatePairs points;
  for (const Operation& each : all) points.emplace_back(each.tokens_s_user, -each.cost_per_million);
  return points;
}

bool priced(std::span<const Operation> all) {
  return std::ranges::any_of(all,
                             [](const Operation& o) { return !std::isnan(o.cost_per_million); });
}

std::vector<report::Drawing> frontier_drawings(const Portfolio& p, std::size_t load,
                                               std::span<const Operation> all) {
  std::vector<report::Drawing> drawings;
  if (all.empty()) return drawings;
  const std::string& name = p.loads[load].name;
  const std::string stem = report::file_name(p.loads[load].name);
  drawings.push_back(frontier(p, stem + ".speed", name + ": speed for one user, and of a card",
                              "output tokens/s of a card", all, by_cards(all), 1));
  if (priced(all))
    drawings.push_back(frontier(p, stem + ".cost", name + ": speed for one user, and its price",
                                p.prices.currency + " for a million output tokens", all,
                                by_money(all), -1));
  return drawings;
}

report::Drawing tornado_drawing(const Portfolio& p, const FleetPlan& plan) {
  const auto rows = sensitivities(p, plan);
  const double expected = cost_per_million(p, plan, p.prices);
  report::Drawing drawing{"tornado", "# row cost_at_low cost_at_high\n", ""};
  std::string names;
  std::size_t longest = 0;
  const auto n = static_cast<int>(rows.size());
  for (int i = 0; i < n; ++i) {
    const Sensitivity& s = rows[static_cast<std::size_t>(i)];
    drawing.data +=
        fmt::format("{} {} {}\n", n - i, report::shortest(s.at_low), report::shortest(s.at_high));
    const auto label = fmt::format("{} ({:.4g} to {:.4g})", s.assumption, s.low, s.high);
    longest = std::max(longest, label.size());
    names += fmt::format("{}{} {}", i > 0 ? ", " : "", report::gnuplot_string(label), n - i);
  }
  drawing.script = opening(
      "tornado", p.name + ": sensitivity of the cost",
      fmt::format("each assumption alone, {}{:.0f} % lower and higher",
                  p.prices.uncertain.empty() ? "" : "over its range, else ", 100 * p.change),
      180 + 50 * std::max(n, 1),
      std::clamp(0.04 + 0.0085 * static_cast<double>(longest), 0.2, 0.7));  // 900 pixels wide
  drawing.script += fmt::format(
      "set ytics ({})\nset yrange [0.3:{}.7]\nset xlabel '{} for a million output tokens'\n"
      "set style fill solid 0.8 noborder\nset key outside below height 1\nset offsets graph 0.05, "
      "graph 0.05, 0, 0\n"
      "set arrow 1 from {:.10g}, graph 0 to {:.10g}, graph 1 nohead lc rgb '#000000' lw 1.5\n"
      "plot data using 2:1:({:.10g}):2:($1-0.3):($1+0.3) with boxxyerror lc rgb '#56B4E9' title "
      "'lower', \\\n     data using 3:1:({:.10g}):3:($1-0.3):($1+0.3) with boxxyerror lc rgb "
      "'#D55E00' title 'higher'\nunset output\nreset\n}}\n",
      names, n, p.prices.currency, expected, expected, expected, expected);
  return drawing;
}

}  // namespace headroom::sweep
