#include "sweep/run/diff_alert.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "hardware/names.hpp"
#include "report/format.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/diff_names.hpp"

namespace headroom::sweep {
namespace {

using report::BestWay;
using report::Cell;
using report::Column;
using Reads = std::span<const report::Condition::Read>;

bool is_of_way(const Column& column) {
  return std::ranges::any_of(report::best_way_columns(),
                             [&](const Column& each) { return each.name == column.name; });
}

/// True for columns that are the same for all points of a model on a machine.
bool follows_from_way(const Column& column) {
  return is_of_way(column) || column.name == "model" || column.name == "machine" ||
         std::holds_alternative<report::OfModel>(column.origin) ||
         std::holds_alternative<report::OfMachine>(column.origin) ||
         std::holds_alternative<report::OfPrices>(column.origin);
}

/// "old.best_verdict fits, new.best_verdict tight".
std::string values_text(Reads reads, std::span<const Cell> cells) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string value = "none";
    if (const auto* n = std::get_if<std::int64_t>(&cells[i])) value = report::shortest(*n);
    if (const auto* x = std::get_if<double>(&cells[i])) value = three_digits(*x);
    if (const auto* s = std::get_if<std::string_view>(&cells[i])) value = *s;
    text += fmt::format("{}{}.{} {}", i == 0 ? "" : ", ", reads[i].row == 1 ? "new" : "old",
                        reads[i].column->name, value);
  }
  return text;
}

/// Counts the places where the condition holds.
struct Matches {
  Alert alert;
  std::set<std::string> models;
  void add(const std::string& model, const std::string& place, Reads reads,
           std::span<const Cell> cells) {
    if (alert.count++ == 0) alert.first = fmt::format("{}: {}", place, values_text(reads, cells));
    models.insert(model);
    alert.models = static_cast<Size>(models.size());
  }
};

/// "; best_verdict can be" where that column of best ways has the text.
std::string other_column_words(const report::Diff& diff, const Column& asked,
                               const std::string& text) {
  for (const Column& column : report::best_way_columns()) {
    const auto known = known_texts(diff, column);
    if (column.name != asked.name && std::ranges::find(known, text) != known.end())
      return fmt::format("; {} can be '{}'", column.name, text);
  }
  return {};
}

/// Texts that never match are mistakes: "verdict = 'fit'".
void check_texts(const report::Diff& diff, const std::string& expression, Reads reads) {
  for (const auto& [name, text] : report::compared_texts(expression)) {
    const auto read =
        std::ranges::find_if(reads, [&](const auto& each) { return each.column->name == name; });
    if (read == reads.end()) continue;
    const auto known = known_texts(diff, *read->column);
    if (known.empty() || std::ranges::find(known, text) != known.end()) continue;
    constexpr std::size_t most = 12;
    const bool few = known.size() <= most;
    throw report::ConditionError(fmt::format(
        "'{}': {} is never '{}' in these runs; {}: {}{}", expression, name, text,
        few ? "it is one of" : "nearest", fmt::join(few ? known : nearest(text, known), ", "),
        other_column_words(diff, *read->column, text)));
  }
}

Alert alert_of_ways(const report::Diff& diff, const report::Condition& condition) {
  const Reads reads = condition.columns_read();
  std::vector<Cell> cells(reads.size());
  Matches matches;
  matches.alert.of_ways = true;
  for (const BestWay& way : best_ways(diff)) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool now = reads[i].row == 1;
      cells[i] = best_way_value(now ? diff.after() : diff.before(), now ? way.after : way.before,
                                *reads[i].column);
    }
    if (condition.holds(cells))
      matches.add(
          way.model,
          fmt::format("{} on {}", short_model_name(way.model), short_machine_name(way.machine)),
          reads, cells);
  }
  return matches.alert;
}

Alert alert_of_points(const report::Diff& diff, const report::Condition& condition) {
  const Reads reads = condition.columns_read();
  std::vector<Cell> cells(reads.size());
  Matches matches;
  const bool with_ways =
      std::ranges::any_of(reads, [](const auto& read) { return is_of_way(*read.column); });
  const auto ways = with_ways ? best_ways(diff) : std::vector<BestWay>();
  std::map<std::pair<std::string, std::string>, const BestWay*> by_name;
  for (const BestWay& way : ways) by_name.emplace(std::pair(way.model, way.machine), &way);
  diff.for_each_pair([&](const report::PointChange& change) {
    const auto name = [&](std::string_view column) {
      const auto cell = diff.value(*report::find_column(column), change, change.now.has_value());
      const auto* text = std::get_if<std::string_view>(&cell);
      return text ? std::string(*text) : std::string();
    };
    const BestWay* way = nullptr;
    if (with_ways) {
      const auto known = by_name.find({name("model"), name("machine")});
      if (known != by_name.end()) way = known->second;
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool now = reads[i].row == 1;
      if (!is_of_way(*reads[i].column))
        cells[i] = diff.value(*reads[i].column, change, now);
      else
        cells[i] = way ? best_way_value(now ? diff.after() : diff.before(),
                                        now ? way->after : way->before, *reads[i].column)
                       : Cell();
    }
    if (condition.holds(cells)) matches.add(name("model"), axis_words(diff, change), reads, cells);
  });
  return matches.alert;
}

}  // namespace

report::Condition alert_condition(const std::string& expression) try {
  return {expression, {"old", "new"}, report::best_way_columns()};
} catch (const report::UnknownColumn& e) {
  std::vector<std::string_view> ways,
      points{"model", "precision", "runtime", "machine", "batch", "verdict", "sure", "gpus_used"};
  for (const Column& column : report::best_way_columns()) ways.push_back(column.name);
  for (const auto name : report::compared_columns()) points.push_back(name);
  for (const auto name : report::money_columns()) points.push_back(name);
  throw report::ConditionError(fmt::format(
      "{}. old and new have, of the best way: {}; of the point: {}; and every other column that "
      "`sqlite3 FILE 'select name from column_meaning'` lists",
      e.what(), fmt::join(ways, ", "), fmt::join(points, ", ")));
}

Alert alert_of(const report::Diff& diff, const std::string& expression,
               const report::Condition& condition) {
  const Reads reads = condition.columns_read();
  check_texts(diff, expression, reads);
  const bool of_ways =
      std::ranges::any_of(reads, [](const auto& r) { return is_of_way(*r.column); }) &&
      std::ranges::all_of(reads, [](const auto& r) { return follows_from_way(*r.column); });
  return of_ways ? alert_of_ways(diff, condition) : alert_of_points(diff, condition);
}

std::string alert_words(const Alert& alert) {
  return fmt::format("--fail-if holds for {} of {}; the first: {}",
                     grouped(alert.count, alert.of_ways ? "best way" : "point"),
                     grouped(alert.models, "model"), alert.first);
}

}  // namespace headroom::sweep
