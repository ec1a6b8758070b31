// The writer: begin or resume a run, append blocks, finish.
#include "report/store.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <optional>
#include <set>
#include <vector>

#include "report/columns.hpp"
#include "report/file_lock.hpp"
#include "report/sqlite.hpp"

namespace headroom::report {
namespace {

constexpr Size run_stride = Size{1} << 40;

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

std::string insert_sql() {
  std::string names = "INSERT INTO outcome VALUES (?1";
  for (std::size_t i = 0; i < stored_columns().size(); ++i) names += fmt::format(",?{}", i + 2);
  return names + ")";
}

/// Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(const Connection& c) : connection_(&c) { c.execute("BEGIN IMMEDIATE"); }
  ~Transaction() {
    if (connection_) sqlite3_exec(connection_->get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() {
    connection_->execute("COMMIT");
    connection_ = nullptr;
  }

 private:
  const Connection* connection_;
};

}  // namespace

struct Store::Implementation {
  explicit Implementation(const std::filesystem::path& file)
      : lock(created(file)),
        connection(file, Access::write),
        insert(connection, insert_sql()),
        progress(connection, "UPDATE run SET next_point=?1, points=?2 WHERE id=?3") {}

  static const std::filesystem::path& created(const std::filesystem::path& file) {
    std::error_code ignored;  // Connection says what is wrong with the folder
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
    return file;
  }

  bool resume(const std::string& fingerprint) {
    Statement last(
        connection,
        "SELECT id, next_point, points FROM run WHERE id = (SELECT max(id) FROM run) AND "
        "finished IS NULL AND fingerprint = ?1");
    last.bind(1, fingerprint);
    if (!last.step()) return false;
    run = last.integer(0);
    next = last.integer(1);
    stored = last.integer(2);
    return true;
  }

  void insert_grid(Size number, Size first, const GridShape& grid) {
    Statement value(connection,
                    "INSERT INTO axis_value (run, grid, digit, axis, position, value) "
                    "VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    std::string names, values;
    const auto points = grid.points();
    Size stride = points;
    for (std::size_t d = 0; d < grid.digits.size(); ++d) {
      const auto size = static_cast<Size>(grid.digits[d].front().values.size());
      stride /= size;
      for (const Axis& axis : grid.digits[d]) {
        for (Size i = 0; i < size; ++i)
          value.run(run, number, static_cast<Size>(d), axis.column, i,
                    axis.values[static_cast<std::size_t>(i)]);
        const auto at = sqlite3_last_insert_rowid(connection.get()) - size + 1;
        names += fmt::format(", {0}_at, {0}_stride, {0}_size", axis.column);
        values += fmt::format(", {}, {}, {}", at, stride, size);
      }
    }
    const Size base = run * run_stride + first;
    connection.execute(fmt::format("INSERT INTO grid (run, first, last{}) VALUES ({}, {}, {}{})",
                                   names, run, base, base + points - 1, values));
  }

  void bind_row(Size point, const model::Estimate& estimate) {
    sqlite3_stmt* s = insert.get();
    sqlite3_bind_int64(s, 1, run * run_stride + point);
    int at = 1;
    for (const StoredColumn& c : stored_columns()) {
      ++at;
      if (c.integer) {
        sqlite3_bind_int64(s, at, c.integer(estimate));
      } else if (const double value = c.real(estimate); std::isfinite(value)) {
        sqlite3_bind_double(s, at, value);
      } else {
        sqlite3_bind_null(s, at);
      }
    }
  }

  FileLock lock;
  Connection connection;
  Statement insert, progress;
  std::int64_t run = 0;
  bool finished = false;
  Size next = 0, stored = 0, all = 0;
};

Store::Store(std::filesystem::path file) : self_(std::make_unique<Implementation>(file)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

void Store::begin_run(const RunInfo& info) {
  for (const GridShape& g : info.grids) check(g);
  self_->all = info.points();
  self_->finished = false;
  self_->connection.execute("PRAGMA journal_mode=WAL");
  if (self_->resume(info.fingerprint)) return;
  Transaction transaction(self_->connection);
  Statement(self_->connection,
            "INSERT INTO run (name, spec, fingerprint, version, started) VALUES (?1,?2,?3,?4,?5)")
      .run(info.name, info.spec, info.fingerprint, info.version, now());
  self_->run = sqlite3_last_insert_rowid(self_->connection.get());
  self_->next = self_->stored = 0;
  for (const ModelOrigin& each : info.models)
    Statement(self_->connection, "INSERT INTO model_source VALUES (?1,?2,?3)")
        .run(self_->run, each.model, each.source);
  Size first = 0;
  for (std::size_t i = 0; i < info.grids.size(); ++i) {
    self_->insert_grid(static_cast<Size>(i), first, info.grids[i]);
    first += info.grids[i].points();
  }
  transaction.commit();
}

std::int64_t Store::run_id() const { return self_->run; }
Size Store::next_point() const { return self_->next; }
Size Store::stored_points() const { return self_->stored; }

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
  if (self_->run == 0 || self_->finished)
    throw std::logic_error("append without a run that is begun");
  if (points.size() != estimates.size() || end < self_->next || end > self_->all)
    throw std::logic_error("a block that does not follow the last one");
  Transaction transaction(self_->connection);
  Size previous = self_->next - 1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i] <= previous || points[i] >= end)
      throw std::logic_error(fmt::format("point {} is out of its block", points[i]));
    previous = points[i];
    self_->bind_row(points[i], estimates[i]);
    self_->insert.step();
    self_->insert.reset();
  }
  const Size stored = self_->stored + static_cast<Size>(points.size());
  self_->progress.run(end, stored, self_->run);
  transaction.commit();
  self_->next = end;
  self_->stored = stored;
}

void Store::keep_longest_contexts(std::span<const std::pair<Size, Size>> contexts) {
  Transaction transaction(self_->connection);
  Statement insert(self_->connection, "INSERT OR REPLACE INTO longest_context VALUES (?1, ?2)");
  for (const auto& [point, tokens] : contexts) insert.run(self_->run * run_stride + point, tokens);
  transaction.commit();
}

void Store::finish_run() {
  if (self_->run == 0 || self_->finished || self_->next != self_->all)
    throw std::logic_error(fmt::format("run finished at point {} of {}", self_->next, self_->all));
  Statement(self_->connection, "UPDATE run SET finished=?1 WHERE id=?2").run(now(), self_->run);
  self_->finished = true;
  // Back to one plain file, which can be read from a read-only folder. Another reader may hold it
  // in WAL mode, which does no harm: the attempt is all.
  sqlite3* database = self_->connection.get();
  sqlite3_busy_timeout(database, 0);
  sqlite3_exec(database, "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
  sqlite3_busy_timeout(database, busy_milliseconds);
}

double expected_bytes_per_point() { return 110; }

}  // namespace headroom::report
