#include "report/chosen_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <string_view>

#include "hardware/quantity_text.hpp"

namespace headroom::report {
namespace {

constexpr std::size_t most_figures = 40;

/// True if both draw the same. NaN, where a model does not run, equals itself.
bool same(const Curve& a, const Curve& b) {
  const auto as_bits = [](const CurvePoint& p) {
    return std::bit_cast<std::array<std::uint64_t, 4>>(
        std::array{p.allocation, p.tokens_s, p.ttft_s, p.load_s});
  };
  return a.label == b.label && std::ranges::equal(a.points, b.points, {}, as_bits, as_bits);
}

std::vector<Figure> changed_figures(std::vector<Figure> figures, const Source& before) {
  const std::vector<Figure> was = figures_of(before.lines);
  std::map<std::string_view, const Figure*> drawn;
  for (const Figure& figure : was) drawn[figure.stem] = &figure;
  std::erase_if(figures, [&](const Figure& figure) {
    const auto earlier = drawn.find(figure.stem);
    return earlier != drawn.end() &&
           std::ranges::equal(figure.curves, earlier->second->curves, same);
  });
  return figures;
}

}  // namespace

ChosenFigures chosen_figures(const Source& source, const Source* before, bool all) {
  ChosenFigures chosen{figures_of(source.lines), 0};
  const std::size_t every = chosen.figures.size();
  if (all || every <= most_figures) return chosen;
  if (before) chosen.figures = changed_figures(std::move(chosen.figures), *before);
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
      "{} left out, which did not change or were too many. headroom report can draw all.",
      chosen.left_out == 1 ? "1 more figure was"
                           : counted(static_cast<Size>(chosen.left_out), "more figure") + " were");
}

}  // namespace headroom::report
