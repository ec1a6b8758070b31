// A diff for readers: decisions first, then what caused them, then the numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/infer/estimate.hpp"
#include "report/csv.hpp"
#include "report/diff.hpp"
#include "report/document.hpp"
#include "report/format.hpp"
#include "report/way_rows.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

constexpr std::size_t max_rows = 40;

/// "TinyLlama, int8, transformers, rtx-4090, batch 1".
std::string point_words(const Source& source, Size point) {
  std::string words;
  for (const Column& column : columns()) {
    if (column.kind != ColumnKind::axis || column.name == "task" || column.name == "kv_cache")
      continue;
    const auto value = text_of(source.axes.value(column.name, point));
    if (value.empty()) continue;
    const bool name = column.type == SqlType::text && column.name != "kv_precision";
    const auto shown_value =
        column.shown == DisplayUnit::gib
            ? gib(Bytes(static_cast<Size>(number_of(source.axes.value(column.name, point), 0))))
            : value;
    words += fmt::format("{}{}{}", words.empty() ? "" : ", ",
                         name ? "" : std::string(column.heading) + " ", shown_value);
  }
  return words;
}

/// Says that `more` rows are left out; nothing where there are none.
void add_more(Document& page, std::size_t more) {
  if (more > 0)
    page.paragraph(std::to_string(more) + Text(" more: ") + code("headroom diff") +
                   " lists all as CSV.");
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:+.1f} %", share * 100) : "from or to none";
}

/// "bf16, llama.cpp, 94.4 tokens/s, fits".
std::string way_text(const ModelRow* row) {
  if (!row) return "not asked";
  const std::string verdict(rank_words(*row));
  if (rank_of(*row) > model::WayRank::offload) return verdict;
  const model::Estimate& e = row->roomiest().estimate;
  return fmt::format("{}, {}, {} tokens/s, {}{}", row->held, row->runtime,
                     shown(e.tokens_s, DisplayUnit::plain), verdict,
                     e.gpus_used > 1 ? fmt::format(" on {} GPUs", e.gpus_used) : "");
}

/// The best way of each model and machine before and after, where it differs.
void add_best_ways(Document& page, const Diff& diff) {
  TableBlock table{{{"model", TableColumn::Kind::row_name},
                    {"machine"},
                    {"before"},
                    {"after"},
                    {"tokens/s", TableColumn::Kind::number},
                    {"cause"}},
                   {},
                   "Best ways that changed"};
  std::size_t all = 0;
  for (const BestWay& way : best_ways(diff)) {
    if (change_of(way, diff.threshold()) == WayChange::none || ++all > max_rows) continue;
    const double speed = way.speed_change();
    table.rows.push_back({way.model, way.machine, way_text(way.before), way_text(way.after),
                          speed == 0 ? "" : percent(speed), way.cause});
  }
  if (all == 0)
    page.paragraph("The best way to run each model on each machine is as before.");
  else
    page.add(std::move(table));
  add_more(page, all - std::min(all, max_rows));
}

/// The first rows of `table`, or `otherwise` where it has none.
void add_table(Document& page, Table table, const char* caption, const char* otherwise) {
  const std::size_t all = table.rows.size();
  if (all > max_rows) table.rows.resize(max_rows);
  if (all == 0)
    page.paragraph(otherwise);
  else
    page.add(table_block(table, caption));
  add_more(page, all - table.rows.size());
}

/// The rows with the largest changes, in bounded memory.
class Largest {
 public:
  void add(double size, std::vector<std::string> row) {
    ++all_;
    rows_.emplace(-std::abs(size), std::move(row));
    if (rows_.size() > max_rows) rows_.erase(std::prev(rows_.end()));
  }
  bool wanted(double size) const {
    return rows_.size() < max_rows || std::abs(size) > -rows_.rbegin()->first;
  }
  void skip() { ++all_; }
  void add_to(Document& page, std::vector<TableColumn> columns) const {
    TableBlock table{std::move(columns), {}};
    for (const auto& [size, row] : rows_) table.rows.emplace_back(row.begin(), row.end());
    page.add(std::move(table));
    add_more(page, all_ - rows_.size());
  }
  bool empty() const { return rows_.empty(); }

 private:
  std::multimap<double, std::vector<std::string>> rows_;
  std::size_t all_ = 0;
};

/// The inputs of the results that changed.
Block inputs_block(const Diff& diff) {
  const auto inputs = diff.inputs();
  if (inputs.empty())
    return Paragraph{"Nothing that results depend on: same spec, same facts, same program."};
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> grouped;
  for (const auto& each : inputs)
    grouped[{each.cause, each.how}].push_back(each.before.empty() ? each.what : words_of(each));
  List list;
  for (const auto& [key, what] : grouped) {
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(what.size(), 12); ++i)
      names += (i ? "; " : "") + what[i];
    if (what.size() > 12) names += fmt::format("; and {} more", what.size() - 12);
    list.items.push_back({fmt::format("{} {}: {}", key.first, key.second, names)});
  }
  return list;
}

/// Cells of a point whose verdict changed, before and after.
std::vector<std::string> verdict_row(const Diff& diff, const PointChange& change) {
  const auto verdict = [](const model::Estimate& e) {
    return fmt::format("{} ({})", model::name_of(e.verdict), model::name_of(e.sure));
  };
  return {point_words(diff.after(), *change.after), verdict(*change.old), verdict(*change.now),
          change.cause};
}

/// Cells of a point with the number that changed most.
std::vector<std::string> number_row(const Diff& diff, const PointChange& change) {
  const Column& column = *find_column(change.column);
  const auto text = [&](const model::Estimate& e) {
    const Cell cell = value_of(column, e, {});
    const auto* n = std::get_if<std::int64_t>(&cell);
    const auto* x = std::get_if<double>(&cell);
    return n || x ? shown(n ? static_cast<double>(*n) : *x, column.shown) : std::string("none");
  };
  return {point_words(diff.after(), *change.after),
          heading(column),
          text(*change.old),
          text(*change.now),
          percent(change.largest),
          change.cause};
}

/// The points that a document names, while all changes go by.
struct Changes {
  Largest verdicts, numbers;
  std::map<std::pair<std::string, std::string>, Size> presence;
  std::map<std::string, Size> causes;

  void add(const Diff& diff, const PointChange& change) {
    if (!change.old || !change.now) {
      ++presence[{change.now ? "came" : "went", change.cause}];
      return;
    }
    ++causes[change.cause];
    Largest& kind = change.verdict ? verdicts : numbers;
    if (!kind.wanted(change.largest)) return kind.skip();
    kind.add(change.largest, change.verdict ? verdict_row(diff, change) : number_row(diff, change));
  }
};

}  // namespace

Document diff_summary(const Diff& diff, const Diff::Counts& counts, int level) {
  const auto &old = diff.before().run, &now = diff.after().run;
  Document page;
  page.paragraph(fmt::format("Run {} ({}, {}) against run {} ({}, {}).", now.id, now.finished,
                             now.version, old.id, old.finished, old.version))
      .heading(level, "Best ways");
  add_best_ways(page, diff);
  page.heading(level, "Decisions");
  add_table(page, decisions(diff), "Decisions that changed",
            "No verdict that tables show has changed.");
  page.heading(level, "Inputs").add(inputs_block(diff)).heading(level, "Points");
  TableBlock points{{{""}, {"points", TableColumn::Kind::number}}, {}, "Points by kind of change"};
  const std::pair<const char*, Size> kinds[] = {
      {"the same", counts.same},
      {"changed by less than the threshold", counts.below},
      {"verdict changed", counts.verdicts},
      {"numbers changed", counts.numbers},
      {"new", counts.added},
      {"gone", counts.removed}};
  for (const auto& [kind, count] : kinds) points.rows.push_back({kind, std::to_string(count)});
  return page.add(std::move(points));
}

Document diff_document(const Diff& diff) {
  using enum TableColumn::Kind;
  Changes changes;
  const auto counts = diff.for_each([&](const PointChange& each) { changes.add(diff, each); });
  Document page;
  page.heading(1, "Changes: " + diff.after().run.name).append(diff_summary(diff, counts, 2));
  if (!changes.causes.empty()) {
    List list;
    for (const auto& [cause, points] : changes.causes)
      list.items.push_back({fmt::format("{}: {}", cause, points)});
    page.paragraph("Changed points by cause:").add(std::move(list));
  }
  if (!changes.verdicts.empty()) {
    page.heading(2, "Verdicts");
    changes.verdicts.add_to(page, {{"point"}, {"before"}, {"after"}, {"cause"}});
  }
  if (!changes.numbers.empty()) {
    page.heading(2, "Numbers").paragraph("The number of each point that changed most.");
    changes.numbers.add_to(page, {{"point"},
                                  {"number"},
                                  {"before", number},
                                  {"after", number},
                                  {"change", number},
                                  {"cause"}});
  }
  if (!changes.presence.empty()) {
    List list;
    for (const auto& [key, points] : changes.presence)
      list.items.push_back({fmt::format("{} {}: {}", points, key.first, key.second)});
    page.heading(2, "Points that came and went").add(std::move(list));
  }
  return page;
}

void write_diff_csv(std::ostream& out, const Diff& diff) {
  std::string line = "change,cause,column,share";
  std::vector<const Column*> axes, compared;
  for (const Column* c : columns_of(diff.after().axes.info()))
    if (c->kind == ColumnKind::axis) {
      axes.push_back(c);
      line += fmt::format(",{}", c->name);
    }
  for (const std::string_view name : {"verdict", "sure", "gpus_used"})
    compared.push_back(find_column(name));
  for (const auto name : compared_columns()) compared.push_back(find_column(name));
  for (const Column* c : compared) line += fmt::format(",{0}_old,{0}_new", c->name);
  const auto text_of_cell = [](const Cell& cell) {
    if (const auto* n = std::get_if<std::int64_t>(&cell)) return shortest(*n);
    if (const auto* x = std::get_if<double>(&cell)) return shortest(*x);
    if (const auto* s = std::get_if<std::string_view>(&cell)) return csv_field(*s);
    return std::string();
  };
  out << line << "\r\n";
  diff.for_each([&](const PointChange& change) {
    const bool both = change.old && change.now;
    line = fmt::format("{},{},{},{}",
                       !both            ? (change.now ? "came" : "went")
                       : change.verdict ? "verdict"
                                        : "number",
                       csv_field(change.cause), change.column,
                       both && change.largest != 0 && std::isfinite(change.largest)
                           ? shortest(change.largest)
                           : "");
    for (const Column* c : axes)
      line += ',' + text_of_cell(diff.value(*c, change, change.now.has_value()));
    for (const Column* c : compared)
      line += ',' + text_of_cell(diff.value(*c, change, false)) + ',' +
              text_of_cell(diff.value(*c, change, true));
    out << line << "\r\n";
    if (!out) throw std::ios_base::failure("writing CSV failed");
  });
}

}  // namespace headroom::report
