#include "report/training_chart.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/infer/scenario/verdict.hpp"
#include "report/chart.hpp"
#include "report/format.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

/// Dark to light within what stays and what comes and goes; after Okabe and Ito.
constexpr std::array<std::string_view, peak_parts.size()> colours = {
    "#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#009E73",
    "#CC79A7", "#7FD4B8", "#F0E442", "#8C6D31", "#999999"};

struct Bars {
  std::string machine, runtime;
  double card = 0;  ///< GiB; 0: unknown
  std::vector<const TrainingLine*> lines;
  std::size_t left_out = 0;
};

std::string stem_of(std::size_t figure) { return fmt::format("training-{}", figure + 1); }

std::string data_of(const Bars& bars) {
  std::string text = "# GiB of the fullest card, summed from the left: row";
  for (const auto part : peak_parts) text += fmt::format(", to the end of {}", part);
  text += '\n';
  for (std::size_t i = 0; i < bars.lines.size(); ++i) {
    double at = 0;
    text += fmt::format("{} 0", i);
    for (const Bytes part : parts_of(bars.lines[i]->estimate)) {
      at += static_cast<double>(part.count()) / GiB;
      text += fmt::format(" {:.4f}", at);
    }
    text += '\n';
  }
  return text;
}

/// The names of the rows.
std::string labels_of(const Source& source, const Bars& bars) {
  std::string script;
  for (std::size_t i = 0; i < bars.lines.size(); ++i) {
    const TrainingLine& line = *bars.lines[i];
    const auto name =
        fmt::format("{}, {}", line.model.substr(line.model.rfind('/') + 1), line.method);
    auto point = varied_words(source, line);
    if (line.estimate.verdict == model::Verdict::does_not_fit) point += " (does not fit)";
    script += fmt::format(
        "set label {0} {1} at screen 0.33, first {2} right offset 0,0.45\n"
        "set label {3} {4} at screen 0.33, first {2} right offset 0,-0.55 font ',9' textcolor rgb "
        "'#444444'\n",
        2 * i + 10, gnuplot_string(name), i, 2 * i + 11, gnuplot_string(point));
  }
  return script;
}

/// The line of the card's memory, and the parts of each row.
std::string bars_of(double card) {
  std::string script;
  if (card > 0)
    script += fmt::format(
        "set arrow 1 from first {0:g}, graph 0 to first {0:g}, graph 1 nohead lc rgb '#000000' dt "
        "2 "
        "lw 1.5 front\nset label 3 {1} at first {0:g}, graph 1 right offset -0.5,0.6 font ',9'\n",
        card, gnuplot_string(fmt::format("a card: {:.4g} GiB", card)));
  script += "plot ";
  for (std::size_t p = 0; p < peak_parts.size(); ++p)
    script += fmt::format(
        "{0}data using {1}:1:{1}:{2}:($1-0.32):($1+0.32) with boxxyerror lc rgb '{3}' title '{4}'",
        p == 0 ? "" : ", \\\n     ", p + 2, p + 3, colours[p], peak_parts[p]);
  return script;
}

std::string script_of(const Source& source, const Bars& bars, const std::string& stem) {
  const double head = 152, foot = 60, row = 46;
  const auto count = static_cast<double>(bars.lines.size());
  const double height = head + foot + row * count;
  double most = bars.card;
  for (const TrainingLine* line : bars.lines)
    most = std::max(most, static_cast<double>(line->estimate.gpu_bytes.count()) / GiB);
  const std::string title =
      fmt::format("{}: memory of the fullest card in training", source.run.name);
  std::string script = fmt::format(
      "# {0}\n# Draws {1}.png and {1}.svg from {1}.dat: gnuplot {1}.gp\ndata = {2}\n"
      "set encoding utf8\nset termoption noenhanced\n"
      "do for [kind in 'png svg'] {{\n"
      "if (kind eq 'png') {{ set terminal pngcairo noenhanced size 1100,{3:.0f} font 'sans,11' "
      "background '#ffffff' }}\n"
      "if (kind eq 'svg') {{ set terminal svg noenhanced size 1100,{3:.0f} font 'sans,12' "
      "background '#ffffff' }}\n"
      "set output {4}.'.'.kind\n",
      title, stem, gnuplot_string(stem + ".dat"), height, gnuplot_string(stem));
  script += fmt::format(
      "set lmargin at screen 0.34\nset rmargin at screen 0.97\nset tmargin at screen {:.4f}\n"
      "set bmargin at screen {:.4f}\n"
      "set label 1 {} at screen 0.02, screen {:.4f} left font ',14'\n"
      "set label 2 {} at screen 0.02, screen {:.4f} left font ',11' textcolor rgb '#444444'\n",
      1 - head / height, foot / height, gnuplot_string(title), 1 - 20 / height,
      gnuplot_string(fmt::format(
          "{}, {}{}", bars.machine, bars.runtime,
          bars.left_out > 0 ? fmt::format("; {} more are in training.md", bars.left_out) : "")),
      1 - 42 / height);
  script += fmt::format(
      "set key at screen 0.02, screen {:.4f} left top Left reverse horizontal maxcols 5 samplen 2 "
      "spacing 1.2 noautotitle\n"
      "set xrange [0:{:g}]\nset yrange [{:g}:-0.5]\nset xlabel 'GiB'\nset grid xtics lc rgb "
      "'#dddddd' lt 1\nset border 3\nset tics nomirror out\nset style fill solid 1 noborder\n",
      1 - 56 / height, most * 1.04, count - 0.5);
  script += labels_of(source, bars);
  script += "unset ytics\n";
  script += bars_of(bars.card);
  return script + "\nunset output\nreset\n}\n";
}

}  // namespace

std::vector<Drawing> training_drawings(const Source& source,
                                       const std::vector<TrainingLine>& lines) {
  std::vector<Bars> figures;
  for (const TrainingLine& line : lines) {
    if (line.estimate.verdict == model::Verdict::refused) continue;
    auto at = std::ranges::find_if(figures, [&](const Bars& b) {
      return b.machine == line.machine && b.runtime == line.runtime;
    });
    if (at == figures.end())
      at = figures.insert(
          at, {line.machine, line.runtime, static_cast<double>(line.gpu_memory) / GiB, {}, 0});
    if (at->lines.size() < max_bars)
      at->lines.push_back(&line);
    else
      ++at->left_out;
  }
  std::vector<Drawing> drawings;
  for (const Bars& bars : figures) {
    const auto stem = stem_of(drawings.size());
    drawings.push_back({stem, data_of(bars), script_of(source, bars, stem)});
  }
  return drawings;
}

}  // namespace headroom::report
