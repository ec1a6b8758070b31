// Ranges of points that both runs have in the same rows are the same, and read once if at all.
#include "report/diff.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"

namespace headroom::report {
namespace {

constexpr Size batch_points = 8192;

constexpr std::string_view numbers[] = {"weights_bytes",  "kv_cache_bytes", "activations_bytes",
                                        "overhead_bytes", "gpu_bytes",      "cpu_bytes",
                                        "disk_bytes",     "load_s",         "ttft_s",
                                        "tpot_s",         "tokens_s",       "total_s"};

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

using Rows = std::vector<std::pair<Size, model::Estimate>>;

/// Rows of part of a run in order.
void read_rows(Rows& rows, const Database& database, std::int64_t run, Size first, Size points) {
  rows.clear();
  database.read(run, first, points, [&](Size point, const model::Estimate& estimate) {
    rows.emplace_back(point, estimate);
  });
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

using Visit = std::function<void(PointChange&)>;

/// Points whose rows both runs share. The point in the earlier run is `back` further.
void visit_same(const Rows& now, Size back, const Visit& visit) {
  for (const auto& [point, estimate] : now) {
    PointChange change{.before = point + back, .after = point, .old = estimate, .now = estimate};
    visit(change);
  }
}

/// Points before `end` in order, with those of the earlier run that went.
void visit_changed(const Rows& now, const Rows& old, Size back, Size end, const Visit& visit) {
  auto before = old.begin();
  const auto removed = [&](Size until) {
    for (; before != old.end() && before->first - back < until; ++before) {
      PointChange change{.before = before->first, .old = before->second};
      visit(change);
    }
  };
  for (const auto& [point, estimate] : now) {
    removed(point);
    PointChange change{.after = point, .now = estimate};
    if (before != old.end() && before->first - back == point) {
      change.before = before->first;
      change.old = before->second;
      ++before;
    }
    visit(change);
  }
  removed(end);
}

/// Points of the earlier run that are nowhere in the later one.
void visit_gone(const Database& database, std::int64_t run, const PointMap& forth, Size points,
                const Visit& visit) {
  Rows old;
  for (Size at = 0; at < points;) {
    const auto range = forth.at(at);
    const Size length = range.to ? range.points : std::min(range.points, batch_points);
    if (!range.to) {
      read_rows(old, database, run, at, length);
      for (const auto& [point, estimate] : old) {
        PointChange change{.before = point, .old = estimate};
        visit(change);
      }
    }
    at += length;
  }
}

}  // namespace

std::span<const std::string_view> compared_columns() { return numbers; }

Diff::Diff(const Database& database, std::int64_t before, std::int64_t after, double threshold)
    : Diff(std::make_shared<Source>(source_of(database, before)), after, threshold) {}

Diff::Diff(const std::shared_ptr<const Source>& before, std::int64_t after, double threshold)
    : Diff(before, std::make_shared<Source>(source_of(after, *before)), threshold) {}

Diff::Diff(std::shared_ptr<const Source> before, std::shared_ptr<const Source> after,
           double threshold)
    : database_(after->database),
      threshold_(threshold),
      before_(std::move(before)),
      after_(std::move(after)),
      replaced_(replaced_machine(before_->axes.info(), after_->axes.info())),
      forth_(std::make_unique<PointMap>(before_->axes, after_->axes, Match::names, replaced_)) {
  std::optional<ReplacedMachine> back;
  if (replaced_) back = {replaced_->to, replaced_->from};
  back_ = std::make_unique<PointMap>(after_->axes, before_->axes, Match::names, back);
  find_causes();
}

Cell Diff::value(const Column& column, const PointChange& change, bool now) const {
  const auto& estimate = now ? change.now : change.old;
  const auto& point = now ? change.after : change.before;
  if (!point || !estimate) return {};
  const Axes& axes = now ? after_->axes : before_->axes;
  return axes.cell(
      column, *point, *estimate,
      column.kind == ColumnKind::derived ? axes.factors(*point) : model::IntervalFactors{});
}

void Diff::judge(PointChange& change) const {
  if (!change.old || !change.now) return;
  change.verdict = change.old->verdict != change.now->verdict ||
                   change.old->sure != change.now->sure ||
                   change.old->gpus_used != change.now->gpus_used;
  static const auto compared = [] {
    std::vector<const Column*> all;
    for (const auto& name : numbers) all.push_back(find_column(name));
    return all;
  }();
  for (const Column* column : compared) {
    const double by =
        share(real(value_of(*column, *change.old, {})), real(value_of(*column, *change.now, {})));
    if (std::abs(by) <= threshold_ || std::abs(by) <= std::abs(change.largest)) continue;
    change.largest = by;
    change.column = column->name;
  }
}

Size Diff::walk(SharedRows shared, const std::function<void(PointChange&)>& visit) const {
  const auto& old_extents = database_->extents(before_->run.id);
  const auto& new_extents = database_->extents(after_->run.id);
  const Size points = after_->axes.info().points();
  Rows now, old;
  Size read = 0;
  for (Size at = 0; at < points;) {
    const auto range = back_->at(at);
    const auto [row, in_a_row] = row_at(new_extents, at);
    Size length = std::min({range.points, in_a_row, batch_points});
    bool same = false;
    if (range.to && row) {
      const auto [old_row, old_in_a_row] = row_at(old_extents, *range.to);
      same = old_row == row;
      length = std::min({range.points, in_a_row, old_in_a_row});
      if (same && shared == SharedRows::skip) {
        at += length;
        continue;
      }
      length = std::min(length, batch_points);
    }
    read_rows(now, *database_, after_->run.id, at, length);
    read += static_cast<Size>(now.size());
    const Size back = range.to ? *range.to - at : 0;
    if (same) {
      visit_same(now, back, visit);
      at += length;
      continue;
    }
    if (range.to)
      read_rows(old, *database_, before_->run.id, *range.to, length);
    else
      old.clear();
    visit_changed(now, old, back, at + length, visit);
    at += length;
  }
  visit_gone(*database_, before_->run.id, *forth_, before_->axes.info().points(), visit);
  return read;
}

Diff::Counts Diff::for_each(const std::function<void(const PointChange&)>& changed) const {
  Counts counts;
  const Size read = walk(SharedRows::skip, [&](PointChange& change) {
    judge(change);
    if (!change.old || !change.now)
      ++(change.now ? counts.added : counts.removed);
    else if (change.verdict || change.largest != 0)
      ++(change.verdict ? counts.verdicts : counts.numbers);
    else {
      ++counts.below;
      return;
    }
    change.cause = cause(change);
    changed(change);
  });
  counts.same = after_->run.points - read;
  return counts;
}

void Diff::for_each_pair(const std::function<void(const PointChange&)>& visit) const {
  walk(SharedRows::visit, visit);
}

}  // namespace headroom::report
