#include "sweep/diff_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/columns.hpp"
#include "report/format.hpp"
#include "sweep/answer_lines.hpp"
#include "sweep/output.hpp"
#include "sweep/screen_table.hpp"

namespace headroom::sweep {
namespace {

constexpr std::size_t most_decisions = 8, most_numbers = 5, most_inputs = 6;

/// Changes of numbers, the largest first.
struct Numbers {
  struct Row {
    double share = 0;
    std::string point, column;
  };
  std::vector<Row> rows;
  void add(const report::Diff& diff, const report::PointChange& change) {
    if (!change.old || !change.now || change.largest == 0) return;
    rows.push_back({change.largest, "", std::string(change.column)});
    if (rows.size() > most_numbers) {
      const auto least =
          std::ranges::min_element(rows, {}, [](const Row& row) { return std::abs(row.share); });
      if (&*least == &rows.back()) {
        rows.pop_back();
        return;
      }
      rows.erase(least);
    }
    rows.back().point = axis_words(diff, change);
  }
};

std::string more(std::size_t all, std::size_t shown) {
  return all > shown ? fmt::format("… and {} more (--format md)\n", all - shown) : std::string();
}

std::string decision_table(const report::Table& decisions) {
  constexpr int always = ScreenColumn::always;
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : decisions.rows) {
    if (rows.size() == most_decisions) break;
    std::vector<std::string> cells;
    for (const auto& value : row) cells.push_back(report::text(value));
    cells[0] = cells[0].substr(0, cells[0].find(" @ "));
    cells[2] = cells[2].substr(cells[2].find('/') + 1);
    rows.push_back({cells[2], cells[0], cells[3], cells[1], cells[4], cells[5], cells[6]});
  }
  return screen_table({{"model", false, always, {}},
                       {"machine", false, always, {}},
                       {"precision", false, 5, {}},
                       {"engine", false, 2, {}},
                       {"before", false, always, {}},
                       {"after", false, always, {}},
                       {"cause", false, 3, {}}},
                      rows) +
         more(decisions.rows.size(), most_decisions);
}

}  // namespace

std::string axis_words(const report::Diff& diff, const report::PointChange& change) {
  std::string text;
  for (const auto& column : report::columns()) {
    if (column.kind != report::ColumnKind::axis) continue;
    const auto cell = diff.value(column, change, change.now.has_value());
    const char* comma = text.empty() ? "" : ", ";
    if (const auto* name = std::get_if<std::string_view>(&cell))
      text += fmt::format("{}{}", comma, *name);
    else if (const auto* n = std::get_if<std::int64_t>(&cell))
      text += column.shown == report::DisplayUnit::gib
                  ? fmt::format("{}{} {}", comma, column.heading, report::gib(Bytes(*n)))
                  : fmt::format("{}{} {}", comma, column.heading, *n);
  }
  return text;
}

std::string diff_screen(const report::Diff& diff) {
  Numbers numbers;
  const auto counts =
      diff.for_each([&](const report::PointChange& each) { numbers.add(diff, each); });
  const report::Table decisions = report::decisions(diff);
  std::string text = fmt::format("{}: run {} against run {}\n", diff.after().run.name,
                                 diff.after().run.id, diff.before().run.id);
  text += paragraph(fmt::format(
      "{} decisions differ; of the points {} changed their verdict, {} a number, {} came, {} went, "
      "{} are as before",
      decisions.rows.size(), grouped(counts.verdicts), grouped(counts.numbers),
      grouped(counts.added), grouped(counts.removed), grouped(counts.same + counts.below)));
  if (!decisions.rows.empty()) text += '\n' + decision_table(decisions);
  if (!numbers.rows.empty()) text += "\nLargest changes of numbers:\n";
  std::ranges::stable_sort(numbers.rows, std::greater{},
                           [](const auto& row) { return std::abs(row.share); });
  for (const auto& row : numbers.rows)
    text += paragraph(fmt::format("{:+.1f} % {}: {}", 100 * row.share, row.column, row.point));
  const auto inputs = diff.inputs();
  text += inputs.empty() ? "\nNothing that results depend on has changed.\n"
                         : "\nInputs that changed:\n";
  for (std::size_t i = 0; i < std::min(inputs.size(), most_inputs); ++i)
    text += paragraph(fmt::format("{} {}: {}", inputs[i].cause, inputs[i].how, inputs[i].what));
  return text + more(inputs.size(), most_inputs) +
         "\nEvery changed point: --format csv; all decisions and causes: --format md.\n";
}

}  // namespace headroom::sweep
