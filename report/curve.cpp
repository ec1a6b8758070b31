// Lines with several budgets become curves.
#include "report/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "report/words.hpp"

namespace headroom::report {
namespace {

constexpr std::size_t fewest_points = 3;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

double finite_or_none(double value) { return std::isfinite(value) ? value : none; }

Curve curve_of(const ModelRow& line) {
  Curve curve{line.held == line.precision ? line.label : line.label + ": " + line.held,
              {},
              {},
              {},
              Between::line};
  for (const BudgetPoint& entry : line.entries) {
    const auto& e = entry.estimate;
    // Without a budget the runtime takes what it takes by default: no place on the axis of budgets.
    if (!entry.budget) continue;
    const bool fits = grade(e) < Grade::does_not_fit;
    curve.points.push_back(
        {static_cast<double>(*entry.budget) / GiB, fits && e.tokens_s > 0 ? e.tokens_s : none,
         fits ? finite_or_none(e.ttft.value()) : none, fits ? finite_or_none(e.load.value()) : none,
         fits, line.factors.times(e)});
  }
  std::vector<double> allocations, speeds;
  for (const CurvePoint& p : curve.points) {
    allocations.push_back(p.allocation);
    speeds.push_back(p.tokens_s);
  }
  const bool complete = grade(line.roomiest().estimate) == Grade::on_gpus;
  curve.knee = find_knee(allocations, speeds, complete ? End::complete : End::open);
  return curve;
}

Figure figure_for(const ModelRow& line) {
  std::string stem = file_name(line.model) + "." + file_name(line.machine);
  if (!line.group.empty()) stem += "." + file_name(line.group);
  const auto runtime = line.group.empty() ? std::string() : ", " + line.group;
  return {stem,
          fmt::format("{} on {}{}", line.model, line.machine, runtime),
          line.conditions + "; in brackets the 80 % interval",
          static_cast<int>(line.gpus),
          {},
          false};
}

}  // namespace

std::string file_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || (c == '.' && !name.empty());
    if (plain)
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

std::vector<Figure> figures_of(const std::vector<ModelRow>& lines) {
  std::map<std::tuple<std::size_t, std::string_view, std::string_view, std::string_view>,
           std::size_t>
      known;
  std::vector<Figure> figures;
  std::set<std::string> stems;
  const std::vector<bool> repeats = repeated(lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (repeats[i]) continue;
    const ModelRow& line = lines[i];
    Curve curve = curve_of(line);
    if (curve.points.size() < fewest_points) continue;
    const auto [at, added] =
        known.try_emplace({line.grid, line.machine, line.group, line.model}, figures.size());
    if (added) {
      Figure figure = figure_for(line);
      const std::string stem = figure.stem;
      for (int n = 2; !stems.insert(figure.stem).second; ++n)
        figure.stem = fmt::format("{}-{}", stem, n);
      figures.push_back(std::move(figure));
    }
    figures[at->second].curves.push_back(std::move(curve));
  }
  return figures;
}

}  // namespace headroom::report
