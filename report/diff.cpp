// Ranges of points that both runs have in the same rows are the same without being read.
#include "report/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "report/format.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

constexpr Size batch_points = 8192;

constexpr std::string_view numbers[] = {"weights_bytes",  "kv_cache_bytes", "activations_bytes",
                                        "overhead_bytes", "gpu_bytes",      "cpu_bytes",
                                        "disk_bytes",     "load_s",         "ttft_s",
                                        "tpot_s",         "tokens_s",       "total_s"};

/// Axes that name something with facts of its own, and what a change of these facts is called.
constexpr std::pair<std::string_view, std::string_view> named[] = {
    {"model", "model metadata"}, {"machine", "hardware"}, {"runtime", "factors"}};
constexpr std::string_view program = "program version";
constexpr std::string_view price = "cards_list_price_usd";

/// The list price of each machine whose cards have one.
std::map<std::string, std::string> prices_of(const RunInfo& info) {
  std::map<std::string, std::string> all;
  for (const GridShape& grid : info.grids)
    for (const Digit& digit : grid.digits) {
      const auto machine = std::ranges::find(digit, "machine", &Axis::column);
      const auto prices = std::ranges::find(digit, price, &Axis::column);
      if (machine == digit.end() || prices == digit.end()) continue;
      for (std::size_t i = 0; i < machine->values.size(); ++i)
        all.emplace(text_of(&machine->values[i]), text_of(&prices->values[i]));
    }
  return all;
}

double share(double before, double after) {
  if (before == after) return 0;
  if (!std::isfinite(before) || !std::isfinite(after) || before == 0)
    return std::numeric_limits<double>::infinity();
  return after / before - 1;
}

double real(const Cell& cell) {
  if (const auto* n = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*n);
  if (const auto* x = std::get_if<double>(&cell)) return *x;
  return 0;  // infinite or absent: it does not run
}

/// The fingerprint of what an axis names at a point; none: the axis names nothing.
std::optional<std::int64_t> fingerprint(const Axes& axes, std::string_view column, Size point) {
  const auto grid = axes.grid_of(point);
  const auto& digits = axes.info().grids[grid].digits;
  for (std::size_t d = 0; d < digits.size(); ++d)
    for (const Axis& axis : digits[d])
      if (axis.column == column && !axis.fingerprints.empty())
        return axis.fingerprints[static_cast<std::size_t>(axes.position(grid, d, point))];
  return std::nullopt;
}

/// Every value of a column of kind axis, over all grids, with what it names.
std::map<std::string, std::int64_t> values_of(const RunInfo& info, std::string_view column) {
  std::map<std::string, std::int64_t> all;
  for (const GridShape& grid : info.grids)
    for (const Digit& digit : grid.digits)
      for (const Axis& axis : digit)
        if (axis.column == column)
          for (std::size_t i = 0; i < axis.values.size(); ++i)
            all.emplace(text_of(&axis.values[i]),
                        axis.fingerprints.empty() ? 0 : axis.fingerprints[i]);
  return all;
}

/// A value of an axis for readers; empty where there is none.
std::string shown_value(const Column& column, const std::string& value) {
  return column.shown == Shown::gib && !value.empty() ? gib(Bytes(std::stoll(value))) : value;
}

void join(std::string& all, std::string_view word) {
  if (!all.empty()) all += "; ";
  all += word;
}

/// Rows of part of a run in order.
using Rows_ = std::vector<std::pair<Size, model::Estimate>>;
Rows_ rows_of(const Database& database, std::int64_t run, Size first, Size points) {
  Rows_ rows;
  database.read(run, first, points, [&](Size point, const model::Estimate& estimate) {
    rows.emplace_back(point, estimate);
  });
  return rows;
}

/// From `point` on: the row it would be in and how many follow it there; none: no extent.
std::pair<std::optional<Size>, Size> row_at(const std::vector<Extent>& extents, Size point) {
  const auto after = std::ranges::upper_bound(extents, point, {}, &Extent::first);
  const Size next = after == extents.end() ? std::numeric_limits<Size>::max() : after->first;
  if (after == extents.begin()) return {std::nullopt, next - point};
  const Extent& e = *std::prev(after);
  if (point >= e.first + e.points) return {std::nullopt, next - point};
  return {e.row + point - e.first, e.first + e.points - point};
}

}  // namespace

std::span<const std::string_view> compared_columns() { return numbers; }

Diff::Diff(const Database& database, std::int64_t before, std::int64_t after, double threshold)
    : database_(&database),
      threshold_(threshold),
      before_(std::make_unique<Source>(source_of(database, before))),
      after_(std::make_unique<Source>(source_of(database, after))),
      back_(std::make_unique<PointMap>(after_->axes, before_->axes, Match::names)),
      forth_(std::make_unique<PointMap>(before_->axes, after_->axes, Match::names)) {}

Cell Diff::value(const Column& column, const PointChange& change, bool now) const {
  const auto& estimate = now ? change.now : change.old;
  const auto& point = now ? change.after : change.before;
  if (!point || !estimate) return {};
  const Axes& axes = now ? after_->axes : before_->axes;
  return axes.cell(
      column, *point, *estimate,
      column.kind == ColumnKind::derived ? axes.factors(*point) : model::IntervalFactors{});
}

std::string Diff::cause(const PointChange& change) const {
  if (!change.old || !change.now)
    return change.now ? presence_cause(*after_, *before_, *change.after)
                      : presence_cause(*before_, *after_, *change.before);
  std::string all;
  for (const auto& [column, word] : named)
    if (fingerprint(before_->axes, column, *change.before) !=
        fingerprint(after_->axes, column, *change.after))
      join(all, word);
  if (before_->run.version != after_->run.version) join(all, program);
  return all.empty() ? "unexplained" : all;
}

std::string Diff::presence_cause(const Source& here, const Source& other, Size point) const {
  std::string all;
  for (const Digit& digit : here.axes.info().grids[here.axes.grid_of(point)].digits)
    for (const Axis& axis : digit) {
      const Column* column = find_column(axis.column);
      if (!column || column->kind != ColumnKind::axis) continue;
      const auto value = text_of(here.axes.value(axis.column, point));
      if (!value.empty() && !values_of(other.axes.info(), axis.column).contains(value))
        join(all, fmt::format("spec: {} {}", column->heading, shown_value(*column, value)));
    }
  return all.empty() ? "spec: this combination" : all;
}

void Diff::judge(PointChange& change) const {
  if (!change.old || !change.now) return;
  change.verdict = change.old->verdict != change.now->verdict ||
                   change.old->sure != change.now->sure ||
                   change.old->gpus_used != change.now->gpus_used;
  for (const auto& name : numbers) {
    const Column& column = *find_column(name);
    const double by =
        share(real(value_of(column, *change.old, {})), real(value_of(column, *change.now, {})));
    if (std::abs(by) <= threshold_ || std::abs(by) <= std::abs(change.largest)) continue;
    change.largest = by;
    change.column = name;
  }
}

void Diff::walk(Rows rows, Counts& counts,
                const std::function<void(const PointChange&)>& visit) const {
  const auto& old_extents = database_->extents(before_->run.id);
  const auto& new_extents = database_->extents(after_->run.id);
  const auto one = [&](PointChange change) {
    judge(change);
    const bool both = change.old && change.now;
    const bool changed = !both || change.verdict || change.largest != 0;
    if (!both)
      ++(change.now ? counts.came : counts.went);
    else if (changed)
      ++(change.verdict ? counts.verdicts : counts.numbers);
    else
      ++counts.below;
    if (changed || rows == Rows::all) visit(change);
  };
  const Size points = after_->axes.info().points();
  Size read = 0;
  for (Size at = 0; at < points;) {
    const auto range = back_->at(at);
    const auto [row, in_a_row] = row_at(new_extents, at);
    Size length = std::min({range.points, in_a_row, batch_points});
    if (range.to && row) {
      const auto [old_row, old_in_a_row] = row_at(old_extents, *range.to);
      length = std::min({range.points, in_a_row, old_in_a_row});
      if (rows == Rows::differing && old_row == row) {
        at += length;
        continue;
      }
      length = std::min(length, batch_points);
    }
    const auto now = rows_of(*database_, after_->run.id, at, length);
    const auto old = range.to ? rows_of(*database_, before_->run.id, *range.to, length) : Rows_{};
    read += static_cast<Size>(now.size());
    auto before = old.begin();
    const auto went = [&](Size until) {
      for (; before != old.end() && before->first - *range.to < until; ++before)
        one({.before = before->first, .old = before->second});
    };
    for (const auto& [point, estimate] : now) {
      went(point - at);
      PointChange change{.after = point, .now = estimate};
      if (before != old.end() && before->first - *range.to == point - at) {
        change.before = before->first;
        change.old = before->second;
        ++before;
      }
      one(std::move(change));
    }
    went(length);
    at += length;
  }
  counts.same = after_->run.points - read;
  const Size old_points = before_->axes.info().points();
  for (Size at = 0; at < old_points;) {
    const auto range = forth_->at(at);
    const Size length = range.to ? range.points : std::min(range.points, batch_points);
    if (!range.to)
      for (const auto& [point, estimate] : rows_of(*database_, before_->run.id, at, length))
        one({.before = point, .old = estimate});
    at += length;
  }
}

Diff::Counts Diff::for_each(const std::function<void(const PointChange&)>& changed) const {
  Counts counts;
  walk(Rows::differing, counts, [&](const PointChange& change) {
    PointChange explained = change;
    explained.cause = cause(change);
    changed(explained);
  });
  return counts;
}

void Diff::for_each_pair(const std::function<void(const PointChange&)>& visit) const {
  Counts counts;
  walk(Rows::all, counts, visit);
}

std::vector<InputChange> Diff::inputs() const {
  std::vector<InputChange> all;
  const RunInfo &old = before_->axes.info(), &now = after_->axes.info();
  if (old.version != now.version)
    all.push_back({std::string(program), old.version + " → " + now.version, "changed"});
  for (const Column& column : columns()) {
    if (column.kind != ColumnKind::axis) continue;
    const auto before = values_of(old, column.name), after = values_of(now, column.name);
    const auto word = std::ranges::find(named, column.name,
                                        &std::pair<std::string_view, std::string_view>::first);
    for (const auto& [value, content] : after)
      if (const auto was = before.find(value); was == before.end())
        all.push_back({fmt::format("spec: {}", column.heading), shown_value(column, value), "new"});
      else if (word != std::end(named) && was->second != content)
        all.push_back({std::string(word->second), value, "changed"});
    for (const auto& [value, content] : before)
      if (!after.contains(value))
        all.push_back(
            {fmt::format("spec: {}", column.heading), shown_value(column, value), "gone"});
  }
  const auto cost = prices_of(old);
  for (const auto& [machine, now_costs] : prices_of(now))
    if (const auto was = cost.find(machine); was != cost.end() && was->second != now_costs)
      all.push_back({"price", machine, "changed"});
  for (std::size_t g = 0; g < std::min(old.grids.size(), now.grids.size()); ++g)
    if (old.grids[g].excluded != now.grids[g].excluded)
      all.push_back({"spec: exclude", fmt::format("of grid {}", g + 1), "changed"});
  std::erase_if(all, [](const InputChange& each) { return each.what.empty(); });
  return all;
}

std::optional<std::int64_t> run_before(const Database& database, std::int64_t run) {
  std::optional<std::int64_t> before;
  const std::string name = database.summary(run).name;
  for (const RunSummary& each : database.runs())
    if (each.id < run && each.complete() && each.name == name) before = each.id;
  return before;
}

std::vector<Night> nights(const Database& database, std::int64_t run, Size point,
                          std::size_t most) {
  const Axes now(database.run(run));
  std::vector<Night> all{{database.summary(run), database.find(run, point)}};
  for (auto before = run_before(database, run); before && all.size() < most;
       before = run_before(database, *before)) {
    const Axes then(database.run(*before));
    const auto there = PointMap(now, then, Match::names).at(point).to;
    all.push_back(
        {database.summary(*before), there ? database.find(*before, *there) : std::nullopt});
  }
  std::ranges::reverse(all);
  return all;
}

}  // namespace headroom::report
