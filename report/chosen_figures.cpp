#include "report/chosen_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/nights.hpp"

namespace headroom::report {
namespace {

constexpr std::size_t most_figures = 40;

/// Everything that a figure draws, as one text.
std::string drawn_by(const Figure& figure) {
  std::string all;
  for (const Curve& curve : figure.curves) {
    all += curve.label + '\n';
    for (const CurvePoint& p : curve.points)
      all += fmt::format("{} {} {} {}\n", p.allocation, p.tokens_s, p.ttft_s, p.load_s);
  }
  return all;
}

std::vector<Figure> changed_figures(const Source& source, const std::vector<Figure>& figures,
                                    std::int64_t before) {
  const Axes axes(source.database->run(before));
  std::map<std::string, std::string> drawn;
  for (const Figure& figure : figures_of(lines_of(*source.database, axes, before)))
    drawn[figure.stem] = drawn_by(figure);
  std::vector<Figure> changed;
  for (const Figure& figure : figures) {
    const auto was = drawn.find(figure.stem);
    if (was == drawn.end() || was->second != drawn_by(figure)) changed.push_back(figure);
  }
  return changed;
}

}  // namespace

ChosenFigures chosen_figures(const Source& source, bool all) {
  ChosenFigures chosen{figures_of(source.lines), 0};
  const std::size_t every = chosen.figures.size();
  if (all || every <= most_figures) return chosen;
  if (const auto before = run_before(*source.database, source.run.id))
    chosen.figures = changed_figures(source, chosen.figures, *before);
  const std::size_t count = chosen.figures.size();
  if (count > most_figures) {
    std::vector<Figure> spread;
    for (std::size_t i = 0; i < most_figures; ++i)
      spread.push_back(std::move(chosen.figures[i * count / most_figures]));
    chosen.figures = std::move(spread);
  }
  chosen.left_out = every - chosen.figures.size();
  return chosen;
}

std::string left_out_words(const ChosenFigures& chosen) {
  return fmt::format(
      "{} more figures were left out, which did not change or were too many. headroom report can "
      "draw all.",
      chosen.left_out);
}

}  // namespace headroom::report
