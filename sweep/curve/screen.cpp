// Curves as a person reads them first: the memory that is worth giving, a short table, a plot.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "model/infer/estimate.hpp"
#include "report/text_plot.hpp"
#include "report/words.hpp"
#include "sweep/curve/curve.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/screen/asked_note.hpp"
#include "sweep/screen/card_memory.hpp"
#include "sweep/screen/interval_words.hpp"
#include "sweep/screen/screen_table.hpp"

namespace headroom::sweep {
namespace {

using namespace model;

/// Rows of the table, over all lines.
constexpr std::size_t most_rows = 5;

/// At most `most` points: what was found, the ends, changes, then others evenly spread.
std::set<std::size_t> few_points(const CurveLine& line, std::size_t most) {
  std::set<std::size_t> few;
  const auto add = [&](std::optional<std::size_t> i) {
    if (i && few.size() < most) few.insert(*i);
  };
  const std::size_t last = line.points.size() - 1;
  add(line.recommended);
  add(last);
  add(line.first);
  add(0);
  for (const auto& mark : line.drawn.marks) add(mark.index);
  for (const std::size_t parts : {2U, 4U, 8U})
    for (std::size_t k = 1; k < parts; k += 2) add(last * k / parts);
  return few;
}

std::string headline_of(const CurveLine& line, std::size_t cards) {
  const std::string with = "with " + way_words(*line.scenario.weights, *line.scenario.runtime);
  if (!line.recommended) return fmt::format("Nothing to recommend {}: {}", with, line.reason);
  const AllocationPoint& p = line.points[*line.recommended];
  const bool alike = line.scenario.machine->has_one_kind();
  Scenario within = line.scenario;
  within.gpu_budget = p.allocation;
  const std::string allocation =
      fmt::format("{} of {} GiB{}", in_gib(p.allocation), in_gib(line.points.back().allocation),
                  on_each_gpu(cards));
  return fmt::format(
      "Recommended {}: {}, {}", with,
      alike || p.estimate.gpus_used == 0 ? allocation : card_memory(within, p.estimate),
      speed_of(p.estimate, interval_factors(line.scenario).times(p.estimate).tpot, " tokens/s"));
}

Bytes budget_of(const CurveLine& line) { return line.points[*line.recommended].allocation; }

std::vector<std::string> row_of(const CurveLine& line, std::size_t i) {
  const AllocationPoint& p = line.points[i];
  const Estimate& e = p.estimate;
  if (!runs(p)) return {in_gib(p.allocation), "", "", "", why_not_words(e)};
  std::string happens = jump_words(line, i);
  if (line.recommended == i) happens += happens.empty() ? "recommended" : "; recommended";
  const TimeIntervals of = interval_factors(line.scenario).times(e);
  return {in_gib(p.allocation), layers_cell(e, p.plan), speed_of(e, of.tpot),
          std::string(unmeasured_sign(of.ttft)) + duration(e.ttft.value()), happens};
}

/// The columns of row_of(), after `first` if it has a heading.
std::vector<ScreenColumn> columns_after(std::string_view first, std::size_t cards) {
  constexpr int always = ScreenColumn::always;
  std::vector<ScreenColumn> all;
  if (!first.empty()) all.push_back({std::string(first), false, always, {}});
  all.push_back({cards > 1 ? "GiB on each" : "GiB", true, always, {}});
  all.push_back({"layers GPU / CPU / disk", true, 2, {}});
  all.push_back({"tokens/s", true, always, {}});
  all.push_back({"first token", true, 1, {}});
  all.push_back({"", false, always, {}});
  return all;
}

/// The recommended point of each line, one below the other.
std::string recommended_table(const std::vector<CurveLine>& lines, std::size_t cards) {
  std::vector<std::vector<std::string>> rows;
  for (const CurveLine& line : lines) {
    std::vector<std::string> row{line.label, "", "", "", "", line.reason};
    if (line.recommended) {
      std::ranges::move(row_of(line, *line.recommended), row.begin() + 1);
      row.back().clear();
    }
    rows.push_back(std::move(row));
  }
  return screen_table(columns_after("recommended", cards), rows);
}

/// The recommendation for each line, and at most `points` of its points.
std::string tables_of(const std::vector<CurveLine>& lines, std::size_t cards, std::size_t points) {
  std::string text;
  for (const CurveLine& line : lines) text += paragraph(headline_of(line, cards));
  for (const CurveLine& line : lines) {
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t i : few_points(line, points)) rows.push_back(row_of(line, i));
    text += '\n';
    if (lines.size() > 1) text += line.label + '\n';
    text += screen_table(columns_after("", cards), rows);
  }
  return text;
}

/// The screen with at most `points` rows a line of the curve, and `rows_of_plot`. Without points,
/// one table has the recommended one of each line.
std::string screen_of(const GivenScenario& given, const std::vector<CurveLine>& lines,
                      std::span<const std::string> notes, std::size_t points, int rows_of_plot) {
  const std::size_t cards = given.machine->devices.size();
  std::string text = title_line(given);
  text += points > 0 ? tables_of(lines, cards, points) : recommended_table(lines, cards);
  const auto runs_somewhere = [](const CurveLine& line) { return line.first.has_value(); };
  if (std::ranges::any_of(lines, runs_somewhere))
    text += '\n' + report::text_plot(figure_of(given, lines), rows_of_plot);
  const bool recommends = lines.size() == 1 && lines.front().recommended;
  if (recommends) {
    const CurveLine& line = lines.front();
    text += paragraph(fmt::format("Recommended: {}.", line.reason));
    text += own_placement_line(given, line.points[*line.recommended].estimate);
    Scenario recommended = line.scenario;
    recommended.gpu_budget = budget_of(line);
    if (const auto note = asked_note(recommended)) text += paragraph("Note: " + *note + '.');
  }
  for (const auto& note : notes) text += paragraph("Note: " + note + '.');
  text += assumption_lines(given);
  text += footnote_of(text);
  const Bytes budget = recommends ? budget_of(lines.front()) : unlimited;
  return text + paragraph("Next: " + launch_words(given, budget) +
                          ", or --format csv (every point), --plots DIR, --details");
}

}  // namespace

std::string curve_screen(const GivenScenario& given, const std::vector<CurveLine>& lines,
                         std::span<const std::string> notes) {
  struct Shape {
    std::size_t points;
    int rows_of_plot;
  };
  constexpr Shape of_one[] = {{most_rows, 7}, {most_rows, 5}},
                  of_several[] = {{3, 5}, {3, 3}, {2, 3}, {0, 7}};
  std::string text;
  for (const Shape& shape :
       lines.size() == 1 ? std::span<const Shape>(of_one) : std::span<const Shape>(of_several)) {
    text = screen_of(given, lines, notes, shape.points, shape.rows_of_plot);
    if (std::ranges::count(text, '\n') <= screen_lines) break;
  }
  return text;
}

}  // namespace headroom::sweep
