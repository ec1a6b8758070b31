// Columns of best ways for conditions on a diff, and the texts that columns can have.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "report/diff.hpp"
#include "report/output_cost.hpp"
#include "report/way_rows.hpp"

namespace headroom::report {
namespace {

using OfWay = Cell (*)(const Source&, const ModelRow&);

template <class Value>
Cell if_run(const ModelRow& row, Value value) {
  return way_runs(row) ? Cell(value) : Cell();
}

/// Cost of a million output tokens where everything is on cards; none without prices.
std::optional<double> cost_on_cards(const Source& source, const ModelRow& best) {
  return rank_of(best) <= model::WayRank::tight ? cheapest_output_cost(source.axes, best)
                                                : std::nullopt;
}

/// The place of the row's machine among those of its model, by that cost.
Cell rank_by_cost(const Source& source, const ModelRow& row) {
  const auto own = cost_on_cards(source, row);
  if (!own) return {};
  std::map<std::string_view, std::vector<const ModelRow*>> by_machine;
  for (const ModelRow* each : source.shown)
    if (each->model == row.model) by_machine[each->machine].push_back(each);
  const auto cheaper = std::ranges::count_if(by_machine, [&](const auto& machine) {
    const auto cost = cost_on_cards(source, best_way(machine.second));
    return cost && *cost < *own;
  });
  return Cell(Size{cheaper + 1});
}

struct WayColumn {
  std::string_view name, unit, heading, meaning;
  SqlType type;
  OfWay value;
};
constexpr WayColumn way_columns[] = {
    {"best_verdict", "", "best verdict", "fits, tight, offload, does not fit or refused",
     SqlType::text, [](const Source&, const ModelRow& r) { return Cell(rank_words(r)); }},
    {"best_precision", "", "best precision", "precision of the weights; empty: it does not run",
     SqlType::text,
     [](const Source&, const ModelRow& r) { return if_run(r, std::string_view(r.held)); }},
    {"best_runtime", "", "best engine", "engine; empty: it does not run", SqlType::text,
     [](const Source&, const ModelRow& r) { return if_run(r, std::string_view(r.runtime)); }},
    {"best_tokens_s", "tokens/s", "best tokens/s", "output tokens per second of the best way",
     SqlType::real,
     [](const Source&, const ModelRow& r) { return if_run(r, r.roomiest().estimate.tokens_s); }},
    {"best_gpus_used", "", "GPUs of the best way", "cards that the best way uses", SqlType::integer,
     [](const Source&, const ModelRow& r) {
       return if_run(r, Size{r.roomiest().estimate.gpus_used});
     }},
    {"best_cost_per_million", "currency", "cost of the best way",
     "money for a million output tokens at this batch, the machine come by in the cheapest way; "
     "empty without "
     "prices",
     SqlType::real,
     [](const Source& s, const ModelRow& r) {
       const auto cost = cheapest_output_cost(s.axes, r);
       return cost ? if_run(r, *cost) : Cell();
     }},
    {"best_rank", "", "rank of the machine",
     "place of the machine by that cost among those that hold the model on their cards; 1: the "
     "cheapest, empty without prices",
     SqlType::integer, rank_by_cost},
};

/// Names of an enumeration whose values are small.
template <class Enum>
std::vector<std::string> names_of() {
  std::vector<std::string> all;
  for (int i = 0; i < 64; ++i)
    if (const auto name = name_of(static_cast<Enum>(i)); !name.empty()) all.emplace_back(name);
  return all;
}

void add_texts(std::set<std::string>& all, const RunInfo& info, std::string_view column) {
  for (const GridShape& grid : info.grids)
    for (const Digit& digit : grid.digits)
      for (const Axis& axis : digit)
        if (axis.column == column)
          for (const AxisValue& value : axis.values) all.insert(text_of(&value));
}

}  // namespace

std::span<const Column> best_way_columns() {
  static const std::vector<Column> all = [] {
    std::vector<Column> made;
    for (const WayColumn& c : way_columns)
      made.push_back({c.name,
                      c.unit,
                      c.heading,
                      c.meaning,
                      ColumnKind::derived,
                      c.type,
                      DisplayUnit::plain,
                      {},
                      {}});
    return made;
  }();
  return all;
}

Cell best_way_value(const Source& source, const ModelRow* row, const Column& column) {
  if (!row) return {};
  const auto way = std::ranges::find(way_columns, column.name, &WayColumn::name);
  if (way != std::end(way_columns)) return way->value(source, *row);
  const AxisValue* value = source.axes.value(column.name, row->roomiest().point);
  return value ? cell_of(*value) : Cell();
}

std::vector<std::string> known_texts(const Diff& diff, const Column& column) {
  if (column.name == "verdict") return names_of<model::Verdict>();
  if (column.name == "sure") return names_of<model::Confidence>();
  if (column.name == "reason") return names_of<model::Reason>();
  if (column.name == "best_verdict") return {rank_words().begin(), rank_words().end()};
  std::string_view axis = column.name;
  if (axis == "best_runtime") axis = "runtime";
  std::set<std::string> all;
  const bool named = axis == "task" || axis == "model" || axis == "machine" || axis == "runtime" ||
                     axis == "precision" || axis == "best_precision";
  if (!named) return {};
  for (const Source* source : {&diff.before(), &diff.after()}) {
    if (axis == "best_precision")
      for (const ModelRow& row : source->lines) all.insert(row.held);
    else
      add_texts(all, source->axes.info(), axis);
  }
  return {all.begin(), all.end()};
}

}  // namespace headroom::report
