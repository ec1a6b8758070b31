#include "report/text_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/format.hpp"

namespace headroom::report {
namespace {

constexpr int plot_width = 72;
constexpr std::string_view symbols = "o*+#@%&";
/// A plot whose speeds span more than this has a logarithmic axis.
constexpr double logarithmic_from = 20;

struct TextScale {
  double low = 0, high = 1;
  bool logarithmic = false;
  int height = 7;  ///< rows
  /// 0 at the bottom row, `height` - 1 at the top.
  int row(double value) const {
    const double share =
        logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * (height - 1)));
  }
  double at(int row) const {
    const double share = static_cast<double>(row) / (height - 1);
    return logarithmic ? low * std::pow(high / low, share) : low + share * (high - low);
  }
};

TextScale scale_of(const Figure& figure, int height) {
  double least = INFINITY, most = 0;
  for (const Curve& curve : figure.curves)
    for (const CurvePoint& p : curve.points) {
      if (!(p.tokens_s > 0)) continue;
      least = std::min(least, p.tokens_s);
      most = std::max(most, p.tokens_s);
    }
  if (most == 0) return {.height = height};
  if (most / least > logarithmic_from) return {least, most, true, height};
  return {0, most, false, height};
}

/// The last point at or before `allocation`: a budget between two points holds what the lower
/// holds.
const CurvePoint* point_at(const Curve& curve, double allocation) {
  const CurvePoint* found = nullptr;
  for (const CurvePoint& p : curve.points)
    if (p.allocation <= allocation * (1 + 1e-9)) found = &p;
  return found;
}

/// The axis and the symbols, in lines as long as the plot's.
std::string legend_of(const Figure& figure) {
  constexpr std::size_t indent = 10, longest = indent + plot_width;
  std::vector<std::string> parts{figure.gpus > 1 ? "GPU allocation, on each GPU"
                                                 : "GPU allocation"};
  bool short_of = false;
  for (std::size_t c = 0; c < figure.curves.size(); ++c) {
    const Curve& curve = figure.curves[c];
    parts.push_back(fmt::format("{} {}", symbols[c % symbols.size()], curve.label));
    short_of = short_of || !std::ranges::all_of(curve.points, &CurvePoint::fits);
  }
  if (short_of) parts.emplace_back("x does not run");
  std::string text, line;
  for (const std::string& part : parts) {
    const bool fits = line.empty() || line.size() + 2 + part.size() <= longest;
    if (!fits) text += std::exchange(line, "") + ";\n";
    line += (line.empty() ? std::string(indent, ' ') : "; ") + part;
  }
  return text + line + '\n';
}

}  // namespace

std::string text_plot(const Figure& figure, int height) {
  const TextScale axis = scale_of(figure, height);
  double last = 0;
  for (const Curve& curve : figure.curves)
    for (const CurvePoint& p : curve.points) last = std::max(last, p.allocation);
  std::vector<std::string> rows(static_cast<std::size_t>(height), std::string(plot_width, ' '));
  for (std::size_t c = 0; c < figure.curves.size(); ++c)
    for (int x = 0; x < plot_width; ++x) {
      const CurvePoint* p = point_at(figure.curves[c], last * x / (plot_width - 1));
      if (p == nullptr) continue;
      const bool runs = p->tokens_s > 0;
      char& cell = rows[static_cast<std::size_t>(runs ? axis.row(p->tokens_s) : 0)]
                       [static_cast<std::size_t>(x)];
      if (runs || cell == ' ') cell = runs ? symbols[c % symbols.size()] : 'x';
    }
  std::string text = axis.logarithmic ? "tokens/s (logarithmic)\n" : "tokens/s\n";
  for (int row = height - 1; row >= 0; --row) {
    const bool labelled = row % (height / 2) == 0;
    text += fmt::format("{:>8} |{}\n", labelled ? fmt::format("{:.3g}", axis.at(row)) : "",
                        rows[static_cast<std::size_t>(row)]);
  }
  text += fmt::format("{:>8} +{}\n", "", std::string(plot_width, '-'));
  const std::string end = fmt::format("{:.4g} GiB", last), middle = fmt::format("{:.4g}", last / 2);
  text += fmt::format("{:>9} 0{:>{}}{:>{}}\n", "", middle, plot_width / 2, end, plot_width / 2 - 1);
  return text + legend_of(figure);
}

}  // namespace headroom::report
