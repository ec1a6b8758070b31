// The writer: begin or resume a run, append blocks, finish.
#include "report/store.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <set>

#include "report/columns.hpp"
#include "report/store_file.hpp"

namespace headroom::report {
namespace {

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

/// Throws std::invalid_argument where a grid is not one.
void check(const GridShape& grid) {
  std::set<std::string> seen;
  for (const Digit& digit : grid.digits) {
    if (digit.empty() || digit.front().values.empty())
      throw std::invalid_argument("an axis without values");
    for (const Axis& axis : digit) {
      const Column* column = find_column(axis.column);
      if (!column || (column->kind != ColumnKind::axis && column->kind != ColumnKind::fact))
        throw std::invalid_argument(fmt::format("no axis is called '{}'", axis.column));
      if (!seen.insert(axis.column).second)
        throw std::invalid_argument(fmt::format("axis '{}' is given twice", axis.column));
      if (axis.values.size() != digit.front().values.size())
        throw std::invalid_argument(fmt::format(
            "axis '{}' has {} values, '{}' has {}: linked axes have equally many", axis.column,
            axis.values.size(), digit.front().column, digit.front().values.size()));
    }
  }
}

}  // namespace

std::string insert_sql(std::string_view table, std::span<const StoredColumn> columns) {
  std::string names = fmt::format("INSERT INTO {} VALUES (?1", table);
  for (std::size_t i = 0; i < columns.size(); ++i) names += fmt::format(",?{}", i + 2);
  return names + ")";
}

bool Store::Implementation::resume(const std::string& fingerprint) {
  Statement last(connection,
                 "SELECT id, next_point, points, reused FROM run WHERE "
                 "id = (SELECT max(id) FROM run) AND finished IS NULL AND fingerprint = ?1 AND "
                 "first_point = ?2 AND end_point = ?3");
  last.bind(1, fingerprint);
  last.bind(2, begin);
  last.bind(3, end);
  if (!last.step()) return false;
  run = last.integer(0);
  next = last.integer(1);
  stored = last.integer(2);
  reused = last.integer(3);
  Statement grid(connection, "SELECT id, first, last FROM grid WHERE run = ?1 ORDER BY id");
  grid.bind(1, run);
  while (grid.step())
    grids.push_back({grid.integer(0), grid.integer(1) - run * run_stride,
                     grid.integer(2) - run * run_stride + 1});
  Statement tail(connection,
                 "SELECT e.id, e.grid, e.last, e.shift FROM extent AS e JOIN grid AS g "
                 "ON g.id = e.grid WHERE g.run = ?1 ORDER BY e.id DESC LIMIT 1");
  tail.bind(1, run);
  if (tail.step()) {
    extent = tail.integer(0);
    extent_grid = tail.integer(1);
    extent_last = tail.integer(2);
    extent_shift = tail.integer(3);
  }
  return true;
}

void Store::Implementation::insert_grid(Size number, const GridShape& grid) {
  Statement value(connection,
                  "INSERT INTO axis_value (run, grid, digit, axis, position, value, fingerprint) "
                  "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
  std::string names, values;
  const auto points = grid.points();
  Size stride = points;
  for (std::size_t d = 0; d < grid.digits.size(); ++d) {
    const auto size = static_cast<Size>(grid.digits[d].front().values.size());
    stride /= size;
    for (const Axis& axis : grid.digits[d]) {
      for (std::size_t i = 0; i < axis.values.size(); ++i)
        value.run(run, number, static_cast<Size>(d), axis.column, static_cast<Size>(i),
                  axis.values[i],
                  axis.fingerprints.empty() ? AxisValue() : AxisValue(axis.fingerprints[i]));
      const auto at = sqlite3_last_insert_rowid(connection.get()) - size + 1;
      names += fmt::format(", {0}_at, {0}_stride, {0}_size", axis.column);
      values += fmt::format(", {}, {}, {}", at, stride, size);
    }
  }
  const Size first = grids.empty() ? 0 : grids.back().end;
  const Size base = run * run_stride + first;
  Statement insert_row(connection,
                       fmt::format("INSERT INTO grid (run, first, last, excluded{}) VALUES ({}, "
                                   "{}, {}, ?1{})",
                                   names, run, base, base + points - 1, values));
  insert_row.run(grid.excluded);
  grids.push_back({sqlite3_last_insert_rowid(connection.get()), first, first + points});
}

void Store::Implementation::insert_facts(const RunInfo& info) {
  Statement known(connection, "SELECT count(*) FROM fact WHERE fingerprint = ?1");
  Statement insert_fact(connection, "INSERT INTO fact VALUES (?1,?2,?3,?4,?5,?6)");
  for (const auto& [fingerprint, facts] : info.facts) {
    known.bind(1, fingerprint);
    const bool there = known.step() && known.integer(0) > 0;
    known.reset();
    if (there) continue;  // an earlier run stored them
    for (const Fact& f : facts)
      insert_fact.run(fingerprint, f.part, f.owner, f.name, f.value, f.unit);
  }
}

void Store::Implementation::insert_row(Size point, const model::Estimate& estimate) {
  const auto store = [&](Statement& into, std::span<const StoredColumn> columns) {
    sqlite3_stmt* s = into.get();
    sqlite3_bind_int64(s, 1, run * run_stride + point);
    int at = 1;
    for (const StoredColumn& c : columns) {
      ++at;
      if (c.integer) {
        sqlite3_bind_int64(s, at, c.integer(estimate));
      } else if (const double value = c.real(estimate); std::isfinite(value)) {
        sqlite3_bind_double(s, at, value);
      } else {
        sqlite3_bind_null(s, at);
      }
    }
    into.step();
    into.reset();
  };
  store(insert, stored_columns());
  for (std::size_t i = 0; i < side_tables().size(); ++i)
    if (side_tables()[i].has(estimate)) store(insert_extra[i], side_tables()[i].columns);
}

void Store::Implementation::add_extent(const RowRange& piece) {
  for (const GridRow& grid : grids) {
    const Size first = std::max(piece.first, grid.first);
    const Size points = std::min(piece.first + piece.points, grid.end) - first;
    if (points <= 0) continue;
    const Size own = run * run_stride + first;
    const Size row = piece.row ? *piece.row + first - piece.first : own;
    if (extent != 0 && extent_grid == grid.id && extent_shift == own - row &&
        extent_last + 1 == row) {
      extent_last += points;
      longer_extent.run(extent_last, extent);
      continue;
    }
    extent_grid = grid.id;
    extent_shift = own - row;
    extent_last = row + points - 1;
    new_extent.run(extent_grid, row, extent_last, extent_shift);
    extent = sqlite3_last_insert_rowid(connection.get());
  }
}

Store::Store(std::filesystem::path file) : self_(std::make_unique<Implementation>(file)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

void Store::begin_run(const RunInfo& info, Unfinished unfinished, std::optional<Shard> shard) {
  for (const GridShape& g : info.grids) check(g);
  self_->all = info.points();
  self_->begin = shard ? shard->first : 0;
  self_->end = shard ? shard->end : self_->all;
  self_->finished = false;
  self_->grids.clear();
  self_->extent = 0;
  self_->connection.execute("PRAGMA journal_mode=WAL");
  if (unfinished == Unfinished::resume && self_->resume(info.fingerprint)) return;
  Transaction transaction(self_->connection);
  Statement(self_->connection,
            "INSERT INTO run (name, spec, fingerprint, version, started, next_point, first_point, "
            "end_point, all_points) VALUES (?1,?2,?3,?4,?5,?6,?6,?7,?8)")
      .run(info.name, info.spec, info.fingerprint, info.version, now(), self_->begin, self_->end,
           self_->all);
  self_->run = sqlite3_last_insert_rowid(self_->connection.get());
  self_->next = self_->begin;
  self_->stored = self_->reused = 0;
  for (const ModelOrigin& each : info.models)
    Statement(self_->connection, "INSERT INTO model_source VALUES (?1,?2,?3,?4)")
        .run(self_->run, each.model, each.source, each.doubt);
  self_->insert_facts(info);
  for (std::size_t i = 0; i < info.grids.size(); ++i)
    self_->insert_grid(static_cast<Size>(i), info.grids[i]);
  transaction.commit();
}

std::int64_t Store::run_id() const { return self_->run; }
Size Store::next_point() const { return self_->next; }
Size Store::end_point() const { return self_->end; }
Size Store::stored_points() const { return self_->stored; }
Size Store::reused_points() const { return self_->reused; }

void Store::append(Size first_point, std::span<const model::Estimate> estimates) {
  std::vector<Size> points(estimates.size());
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = first_point + static_cast<Size>(i);
  if (first_point != self_->next)
    throw std::logic_error(
        fmt::format("block at point {} where {} is next", first_point, self_->next));
  append(points, estimates, first_point + static_cast<Size>(estimates.size()));
}

void Store::append(std::span<const Size> points, std::span<const model::Estimate> estimates,
                   Size end) {
  const RowRange piece{self_->next, end - self_->next};
  append({&piece, 1}, points, estimates, 0);
}

void Store::append(std::span<const RowRange> pieces, std::span<const Size> points,
                   std::span<const model::Estimate> estimates, Size reused) {
  if (self_->run == 0 || self_->finished)
    throw std::logic_error("append without a run that is begun");
  Size end = self_->next;
  for (const RowRange& piece : pieces) {
    if (piece.first != end || piece.points < 0)
      throw std::logic_error("a block that does not follow the last one");
    end += piece.points;
  }
  if (points.size() != estimates.size() || end > self_->end)
    throw std::logic_error("a block that does not follow the last one");
  Transaction transaction(self_->connection);
  Size previous = self_->next - 1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i] <= previous || points[i] >= end)
      throw std::logic_error(fmt::format("point {} is out of its block", points[i]));
    previous = points[i];
    self_->insert_row(points[i], estimates[i]);
  }
  for (const RowRange& piece : pieces) self_->add_extent(piece);
  const Size stored = self_->stored + static_cast<Size>(points.size()) + reused;
  self_->progress.run(end, stored, self_->reused + reused, self_->run);
  transaction.commit();
  self_->next = end;
  self_->stored = stored;
  self_->reused += reused;
}

void Store::keep_longest_contexts(std::span<const std::pair<Size, Size>> contexts) {
  Transaction transaction(self_->connection);
  Statement insert(self_->connection, "INSERT OR REPLACE INTO longest_context VALUES (?1, ?2)");
  for (const auto& [point, tokens] : contexts) insert.run(self_->run * run_stride + point, tokens);
  transaction.commit();
}

void Store::finish_run() {
  if (self_->run == 0 || self_->finished || self_->next != self_->end)
    throw std::logic_error(fmt::format("run finished at point {} of {}", self_->next, self_->end));
  Statement(self_->connection, "UPDATE run SET finished=?1 WHERE id=?2").run(now(), self_->run);
  self_->finished = true;
  // Back to one plain file, which can be read from a read-only folder. Another reader may hold it
  // in WAL mode, which does no harm: the attempt is all.
  sqlite3* database = self_->connection.get();
  sqlite3_busy_timeout(database, 0);
  sqlite3_exec(database, "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
  sqlite3_busy_timeout(database, busy_milliseconds);
}

}  // namespace headroom::report
