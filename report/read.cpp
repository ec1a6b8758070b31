// The reader: runs, their axes and their rows.
#include "report/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/infer/estimate.hpp"
#include "report/packed_field.hpp"
#include "report/run_rows.hpp"
#include "report/sqlite.hpp"

namespace headroom::report {
namespace {

/// Sets the columns of the row that the statement stands on.
void restore(Statement& row, std::span<const StoredColumn> columns, model::Estimate& estimate) {
  for (int at = 0; const StoredColumn& c : columns) {
    ++at;
    if (c.restore_integer)
      c.restore_integer(estimate, row.integer(at));
    else
      c.restore_real(estimate, row.real(at));
  }
}

std::string rows_of(std::string_view table) {
  return fmt::format("SELECT * FROM {} WHERE id BETWEEN ?1 AND ?2 ORDER BY id", table);
}

/// Rows of a side table, which has them for few points, in step with those of `outcome`.
class SideRows {
 public:
  SideRows(const Connection& connection, const SideTable& table)
      : columns_(table.columns), rows_(connection, rows_of(table.name)) {}
  void start(Size first, Size last) {
    rows_.reset();
    rows_.bind(1, first);
    rows_.bind(2, last);
    more_ = rows_.step();
  }
  void restore_at(Size id, model::Estimate& estimate) {
    while (more_ && rows_.integer(0) < id) more_ = rows_.step();
    if (more_ && rows_.integer(0) == id) restore(rows_, columns_, estimate);
  }
  void end() { rows_.reset(); }

 private:
  std::span<const StoredColumn> columns_;
  Statement rows_;
  bool more_ = false;
};

/// Calls `visit` for each part of an extent that has some of these points. `shift` is a row less
/// its point.
void for_ranges(const std::vector<Extent>& extents, Size first, Size points,
                const std::function<void(Size first_row, Size last_row, Size shift)>& visit) {
  auto extent = std::ranges::upper_bound(extents, first, {}, &Extent::first);
  if (extent != extents.begin()) --extent;
  for (; extent != extents.end() && extent->first < first + points; ++extent) {
    const Size from = std::max(first, extent->first);
    const Size end = std::min(first + points, extent->first + extent->points);
    const Size shift = extent->row - extent->first;
    if (from < end) visit(from + shift, end - 1 + shift, shift);
  }
}

}  // namespace

struct Database::Implementation {
  explicit Implementation(std::filesystem::path file)
      : connection(std::move(file), Access::read), rows(connection, rows_of("outcome")) {
    for (const SideTable& table : side_tables()) beside.emplace_back(connection, table);
  }
  Connection connection;
  Statement rows;
  std::vector<SideRows> beside;
  Statement status{connection, "SELECT id, status FROM outcome WHERE id BETWEEN ?1 AND ?2"};
  std::map<std::int64_t, std::vector<Extent>> extents;  ///< by run, as they are asked for
  std::map<std::int64_t, RunInfo> runs;                 ///< likewise
  bool has_views = false;  ///< views are made once, since they take milliseconds
};

Database::Database(std::filesystem::path file) : self_(new Implementation(std::move(file))) {}
Database::~Database() = default;
Database::Database(Database&&) noexcept = default;

const std::filesystem::path& Database::file() const { return self_->connection.file(); }

std::vector<RunSummary> Database::runs() const {
  Statement row(self_->connection,
                "SELECT id, name, version, fingerprint, started, finished, points, reused, "
                "next_point, first_point, end_point, all_points FROM run ORDER BY id");
  std::vector<RunSummary> all;
  while (row.step())
    all.push_back({row.integer(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5),
                   row.integer(6), row.integer(7), row.integer(8), row.integer(9), row.integer(10),
                   row.integer(11)});
  return all;
}

std::int64_t Database::latest_run() const {
  const auto id =
      self_->connection.integer(fmt::format("SELECT max(id) FROM run WHERE {}", complete_run));
  if (id != 0) return id;
  const auto all = runs();
  if (!all.empty() && !all.back().finished.empty())
    throw StoreError(
        fmt::format("{}: holds a shard, points {} to {} of {}; headroom merge unites "
                    "shards",
                    file().string(), all.back().first, all.back().end - 1, all.back().all));
  throw StoreError(fmt::format("{}: has no complete run; finish the sweep first", file().string()));
}

RunSummary Database::summary(std::int64_t id) const {
  for (RunSummary& each : runs())
    if (each.id == id) return std::move(each);
  throw StoreError(fmt::format("{}: has no run {}", file().string(), id));
}

const RunInfo& Database::run(std::int64_t id) const {
  const auto at = self_->runs.find(id);
  if (at != self_->runs.end()) return at->second;
  return self_->runs.emplace(id, read_run(self_->connection, id)).first->second;
}

const std::vector<Extent>& Database::extents(std::int64_t run) const {
  const auto [at, asked] = self_->extents.try_emplace(run);
  if (!asked) return at->second;
  Statement row(self_->connection,
                "SELECT e.first, e.last, e.shift FROM grid AS g JOIN extent AS e ON e.grid = g.id "
                "WHERE g.run = ?1 ORDER BY e.first + e.shift");
  row.bind(1, run);
  constexpr Size far = Size{1} << 61;  // sums of two of them are numbers still
  while (row.step()) {
    const Size from = row.integer(0), last = row.integer(1), shift = row.integer(2);
    if (from < 0 || last < from || last > far || shift < -far || shift > far ||
        run > far / run_stride)
      throw StoreError(
          fmt::format("{}: is damaged: an extent of run {} is nowhere", file().string(), run));
    at->second.push_back({from + shift - run * run_stride, last - from + 1, from});
  }
  return at->second;
}

void Database::read(std::int64_t run, Size first, Size points,
                    const std::function<void(Size, const model::Estimate&)>& visit) const {
  Statement& row = self_->rows;
  for_ranges(extents(run), first, points, [&](Size first_row, Size last_row, Size shift) {
    row.bind(1, first_row);
    row.bind(2, last_row);
    for (SideRows& side : self_->beside) side.start(first_row, last_row);
    for (Size from_here = first_row; row.step();) {
      model::Estimate estimate;
      const Size id = row.integer(0);
      if (id < from_here || id > last_row)  // a damaged tree leads back
        throw StoreError(
            fmt::format("{}: is damaged: rows of run {} are out of order", file().string(), run));
      from_here = id + 1;
      restore(row, stored_columns(), estimate);
      for (SideRows& side : self_->beside) side.restore_at(id, estimate);
      visit(id - shift, estimate);
    }
    row.reset();
    for (SideRows& side : self_->beside) side.end();
  });
}

void Database::for_each(std::int64_t run,
                        const std::function<void(Size, const model::Estimate&)>& visit) const {
  Size seen = 0;
  read(run, 0, run_stride, [&](Size point, const model::Estimate& estimate) {
    ++seen;
    visit(point, estimate);
  });
  check_points(run, seen);
}

void Database::for_each_verdict(std::int64_t run, Size first, Size points,
                                const std::function<void(Size, model::Verdict)>& visit) const {
  Statement& row = self_->status;
  for_ranges(extents(run), first, points, [&](Size first_row, Size last_row, Size shift) {
    row.bind(1, first_row);
    row.bind(2, last_row);
    while (row.step())
      visit(row.integer(0) - shift,
            static_cast<model::Verdict>(packed::verdict.read(row.integer(1))));
    row.reset();
  });
}

void Database::check_points(std::int64_t run, Size seen) const {
  if (const Size expected = summary(run).points; seen != expected)
    throw StoreError(
        fmt::format("{}: holds {} points of run {} where it should hold {}; it is "
                    "damaged or was copied while a sweep wrote it",
                    file().string(), seen, run, expected));
}

std::optional<model::Estimate> Database::find(std::int64_t run, Size point) const {
  std::optional<model::Estimate> found;
  read(run, point, 1, [&](Size, const model::Estimate& estimate) { found = estimate; });
  return found;
}

std::map<Size, Size> Database::longest_contexts(std::int64_t run) const {
  Statement row(self_->connection,
                "SELECT id, tokens FROM longest_context WHERE id BETWEEN ?1 AND ?2");
  row.bind(1, run * run_stride);
  row.bind(2, run * run_stride + run_stride - 1);
  std::map<Size, Size> tokens;
  while (row.step()) tokens.emplace(row.integer(0) - run * run_stride, row.integer(1));
  return tokens;
}

Database::Snapshot::Snapshot(const Database& database) : database_(&database) {
  database.self_->connection.execute("BEGIN");
}
Database::Snapshot::~Snapshot() {
  sqlite3_exec(database_->self_->connection.get(), "COMMIT", nullptr, nullptr, nullptr);
}

Table Database::query(const std::string& sql, std::int64_t run) const {
  if (!std::exchange(self_->has_views, true)) self_->connection.execute(create_temporary_views());
  Statement row(self_->connection, sql);
  if (const int at = sqlite3_bind_parameter_index(row.get(), ":run"); at > 0) row.bind(at, run);
  Table table;
  const int count = sqlite3_column_count(row.get());
  for (int i = 0; i < count; ++i) table.names.emplace_back(sqlite3_column_name(row.get(), i));
  while (row.step()) {
    auto& values = table.rows.emplace_back();
    for (int i = 0; i < count; ++i) values.push_back(row.value(i));
  }
  return table;
}

}  // namespace headroom::report
