#include "sweep/screen/diff_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <vector>

#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "report/columns.hpp"
#include "report/format.hpp"
#include "report/way_rows.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/screen/diff_names.hpp"
#include "sweep/screen/interval_words.hpp"
#include "sweep/screen/screen_table.hpp"

namespace headroom::sweep {
namespace {

using report::BestWay;
using report::ModelRow;
using report::WayChange;

constexpr std::size_t most_lines = 30, most_numbers = 5, most_input_lines = 8;
constexpr int always = ScreenColumn::always;

std::size_t lines_of_text(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// Changes of numbers, the largest first.
struct Numbers {
  struct Row {
    double share = 0;
    std::string point, column;
  };
  std::vector<Row> rows;
  void add(const report::Diff& diff, const report::PointChange& change) {
    if (!change.old || !change.now || change.largest == 0 || !std::isfinite(change.largest)) return;
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
  std::string text() {
    if (rows.empty()) return {};
    std::string all = "\nLargest changes of numbers:\n";
    std::ranges::stable_sort(rows, std::greater{},
                             [](const auto& row) { return std::abs(row.share); });
    for (const Row& row : rows)
      all += paragraph(fmt::format("{:+.1f} % {}: {}", 100 * row.share, row.column, row.point));
    return all;
  }
};

/// A best way in one run: precision and engine, then tokens/s; empty where it does not run.
struct WayWords {
  std::string way, tokens_s;
};
WayWords words_of_way(const ModelRow* row) {
  if (!row || report::rank_of(*row) > model::WayRank::offload) return {};
  const double tokens_s = row->roomiest().estimate.tokens_s;
  const bool measured = row->factors.tpot.measurements > 0;
  return {row->held + ' ' + row->runtime,
          tokens_s > 0 ? (measured ? "" : "~") + three_digits(tokens_s) : ""};
}

/// Ways as one column: names to the left, tokens/s to the right.
std::vector<std::string> way_column(const std::vector<const ModelRow*>& rows) {
  std::size_t name = 0, number = 0;
  std::vector<WayWords> words;
  for (const ModelRow* row : rows) {
    const WayWords& each = words.emplace_back(words_of_way(row));
    name = std::max(name, text_width(each.way));
    number = std::max(number, text_width(each.tokens_s));
  }
  std::vector<std::string> cells;
  for (const WayWords& each : words)
    cells.push_back(each.way.empty()
                        ? "-"
                        : fmt::format("{:<{}} {:>{}}", each.way, name, each.tokens_s, number));
  return cells;
}

/// "fits", "fits → offload", "fits on 1 GPU → fits on 2 GPUs".
std::string verdict_change(const BestWay& way) {
  const auto gpus = [](const ModelRow* row) {
    return row && report::rank_of(*row) <= model::WayRank::tight
               ? Size{row->roomiest().estimate.gpus_used}
               : Size{0};
  };
  const bool other_gpus =
      gpus(way.before) > 0 && gpus(way.after) > 0 && gpus(way.before) != gpus(way.after);
  const auto verdict = [&](const ModelRow* row) -> std::string {
    if (!row) return "not asked";
    const std::string words(report::rank_words(*row));
    return other_gpus ? words + " on " + counted(gpus(row), "GPU") : words;
  };
  const std::string before = verdict(way.before), after = verdict(way.after);
  return before == after ? after : fmt::format("{} → {}", before, after);
}

/// The table with names of models cut where lines would be too long.
std::string way_lines(std::vector<ScreenColumn> columns) {
  constexpr std::size_t shortest_name = 16;
  auto& models = columns.front().cells;
  std::size_t longest = 0;
  for (const auto& model : models) longest = std::max(longest, text_width(model));
  for (;; --longest) {
    for (auto& model : models)
      if (text_width(model) > longest) model = model.substr(0, longest - 1) + "…";
    const std::string text = screen_table(columns);
    std::size_t widest = 0;
    for (const auto line : words(text, "\n")) widest = std::max(widest, text_width(line));
    if (widest <= screen_width || longest <= shortest_name) return text;
  }
}

/// Best ways that differ, at most `most` of them.
std::string way_table(const report::Diff& diff, std::span<const BestWay> ways, std::size_t most) {
  std::set<std::string> machines, short_names;
  for (const BestWay& way : ways) machines.insert(way.machine);
  for (const std::string& machine : machines) short_names.insert(short_machine_name(machine));
  const bool distinct = short_names.size() == machines.size();  // without their hosts
  const auto& replaced = diff.replaced();
  const bool stands_in = replaced && machines.size() == 1 && *machines.begin() == replaced->to;
  const auto shown = ways.first(std::min(most, ways.size()));
  const auto column = [&](std::string heading, int importance, auto&& cell_of) {
    ScreenColumn made{std::move(heading), false, importance, {}};
    for (const BestWay& way : shown) made.cells.push_back(cell_of(way));
    return made;
  };
  const auto side = [&](const std::string& heading, const ModelRow* BestWay::*row) {
    std::vector<const ModelRow*> rows;
    for (const BestWay& way : shown) rows.push_back(way.*row);
    return ScreenColumn{heading + " (tokens/s)", false, always, way_column(rows)};
  };
  std::vector<ScreenColumn> columns;
  columns.push_back(column("model", always, [](const BestWay& way) {
    return std::string(short_model_name(way.model));
  }));
  if (machines.size() > 1)
    columns.push_back(column("machine", always, [&](const BestWay& way) {
      return distinct ? short_machine_name(way.machine) : way.machine;
    }));
  columns.push_back(
      side(stands_in ? short_machine_name(replaced->from) : "before", &BestWay::before));
  columns.push_back(side(stands_in ? short_machine_name(replaced->to) : "after", &BestWay::after));
  columns.push_back(column("change", 1, [](const BestWay& way) {
    const double change = way.speed_change();
    return change == 0 ? std::string() : change_percent(1 + change);
  }));
  columns.back().right = true;
  columns.push_back(column("verdict", always, verdict_change));
  return '\n' + way_lines(std::move(columns));
}

/// "Best ways: 1 verdict worse, 0 better, 2 other precision or engine, 6 as before".
std::string way_counts(const report::Diff& diff, const std::vector<BestWay>& ways) {
  Size count[7] = {};
  for (const BestWay& way : ways)
    ++count[static_cast<std::size_t>(change_of(way, diff.threshold()))];
  const std::string_view words[] = {count[0] == 1 ? "verdict worse" : "verdicts worse",
                                    "better",
                                    "other precision or engine",
                                    "other speed",
                                    "new",
                                    "gone",
                                    "as before"};
  std::string text = "Best ways: ";
  for (std::size_t i = 0; i < std::size(count); ++i)
    if (count[i] > 0 || i < 2)
      text += fmt::format("{}{} {}", i == 0 ? "" : ", ", grouped(count[i]), words[i]);
  return text;
}

std::string replaced_line(const report::Diff& diff) {
  return diff.replaced() ? paragraph(fmt::format("{} is in place of {}", diff.replaced()->to,
                                                 diff.replaced()->from))
                         : std::string();
}

std::string input_lines(const report::Diff& diff, ScreenLength length) {
  const auto inputs = diff.inputs();
  if (inputs.empty()) return "\nNothing that results depend on has changed.\n";
  std::string text = "\nInputs that changed:\n";
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (diff.replaced() && inputs[i].what == "machine") continue;  // a line of its own
    const std::string line = paragraph(words_of(inputs[i]));
    if (length == ScreenLength::short_screen &&
        lines_of_text(text) - 1 + lines_of_text(line) > most_input_lines)
      return text + fmt::format("… and {} more (--details)\n", inputs.size() - i);
    text += line;
  }
  return text;
}

/// Every way whose answer changed.
std::string decision_table(const report::Diff& diff) {
  const report::Table decisions = report::decisions(diff);
  if (decisions.rows.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : decisions.rows) {
    std::vector<std::string> cells;
    for (const std::size_t i : {2U, 0U, 3U, 1U, 4U, 5U}) cells.push_back(readable(row[i]));
    rows.push_back(std::move(cells));
  }
  return "\nEvery answer that changed:\n" +
         aligned({"model", "machine", "precision", "engine", "before", "after"},
                 std::vector<bool>(6, false), rows);
}

std::string count_line(const report::Diff& diff, const report::Diff::Counts& counts) {
  return '\n' +
         paragraph(fmt::format("Points: {} with another verdict, {} with another number (over {} "
                               "%), {} new, {} gone, {} as before",
                               grouped(counts.verdicts), grouped(counts.numbers),
                               report::shortest(100 * diff.threshold()), grouped(counts.added),
                               grouped(counts.removed), grouped(counts.same + counts.below)));
}

}  // namespace

std::string diff_screen(const report::Diff& diff, ScreenLength length) {
  const bool details = length == ScreenLength::details;
  Numbers numbers;
  const auto counts =
      diff.for_each([&](const report::PointChange& each) { numbers.add(diff, each); });
  auto ways = best_ways(diff);
  std::string head = fmt::format("{}: run {} against run {}\n", diff.after().run.name,
                                 diff.after().run.id, diff.before().run.id);
  if (!ways.empty()) head += paragraph(way_counts(diff, ways));
  head += replaced_line(diff);
  std::erase_if(ways, [&](const BestWay& way) {
    return change_of(way, diff.threshold()) == WayChange::none;
  });
  const bool guess = std::ranges::any_of(ways, [](const BestWay& way) {
    return std::ranges::any_of(std::array{way.before, way.after}, [](const ModelRow* row) {
      return row && row->factors.tpot.measurements == 0;
    });
  });
  std::string foot;
  if (details || ways.empty()) foot += numbers.text();
  if (details) foot += decision_table(diff);
  foot += input_lines(diff, length) + count_line(diff, counts);
  if (guess) foot += unmeasured_footnote;
  if (!details) foot += "Every answer that changed: --details; every point: --format csv.\n";
  if (ways.empty()) return head + foot;
  const std::size_t others = lines_of_text(head) + lines_of_text(foot) + 3;  // blank, head, more
  const std::size_t most = details ? ways.size() : most_lines - std::min(others, most_lines - 5);
  std::string table = way_table(diff, ways, most);
  if (ways.size() > most) table += fmt::format("… and {} more (--details)\n", ways.size() - most);
  return head + table + foot;
}

}  // namespace headroom::sweep
