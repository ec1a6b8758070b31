// Operations on whole runs: merge from another file, and prune.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "report/columns.hpp"
#include "report/store_file.hpp"

namespace headroom::report {
namespace {

/// Attaches another database as `shard` while it lives.
class Attached {
 public:
  Attached(const Connection& connection, const std::filesystem::path& file)
      : connection_(&connection) {
    Statement(connection, "ATTACH ?1 AS shard").run(file.string());
  }
  ~Attached() { sqlite3_exec(connection_->get(), "DETACH shard", nullptr, nullptr, nullptr); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  const Connection* connection_;
};

constexpr std::string_view kept_runs =
    "(SELECT id FROM (SELECT id FROM run WHERE finished IS NOT NULL ORDER BY id DESC LIMIT {}) "
    "UNION SELECT max(id) FROM run)";

/// True if every row of the attached shard keeps its id here. Then the file holds one run, and rows
/// of no other points than those of `part`.
bool has_rows_of_one_run(const Connection& connection, Size shift, const Shard& part) {
  if (shift != 0 || connection.integer("SELECT count(*) FROM shard.run") != 1) return false;
  const auto run = connection.integer("SELECT id FROM shard.run");
  const auto outside = [&](std::string_view table) {
    return connection.integer(
        fmt::format("SELECT EXISTS (SELECT 1 FROM shard.{0} WHERE id < {1}) OR EXISTS (SELECT 1 "
                    "FROM shard.{0} WHERE id >= {2})",
                    table, run * run_stride + part.first, run * run_stride + part.end));
  };
  return outside("outcome") == 0 && std::ranges::none_of(side_tables(), [&](const SideTable& each) {
           return outside(each.name) != 0;
         });
}

Size file_bytes(const Connection& connection) {
  return connection.integer("PRAGMA page_count") * connection.integer("PRAGMA page_size");
}

}  // namespace

void Store::adopt(const std::filesystem::path& database, std::int64_t run) {
  const Attached attached(self_->connection, database);
  Transaction transaction(self_->connection);
  Statement shard(self_->connection,
                  "SELECT first_point, end_point, points FROM shard.run WHERE id = ?1");
  shard.bind(1, run);
  if (!shard.step()) throw StoreError(fmt::format("{}: has no run {}", database.string(), run));
  const Size first = shard.integer(0), end = shard.integer(1), points = shard.integer(2);
  shard.reset();
  if (first != self_->next || end > self_->end)
    throw std::logic_error("a shard that does not follow the last one");
  const Size shift = (self_->run - run) * run_stride;
  Statement extent(self_->connection,
                   "SELECT e.first, e.last, e.shift FROM shard.grid AS g JOIN shard.extent AS e ON "
                   "e.grid = g.id WHERE g.run = ?1 ORDER BY e.first + e.shift");
  const bool alone = has_rows_of_one_run(self_->connection, shift, {first, end});
  const auto copy = [&](std::string_view table, std::span<const StoredColumn> stored) {
    if (alone) {  // sqlite copies whole records where nothing is selected or computed
      Statement(self_->connection, fmt::format("INSERT INTO {0} SELECT * FROM shard.{0}", table))
          .run();
      return Size{sqlite3_changes64(self_->connection.get())};
    }
    // An extent at a time: rows arrive in the order of their new ids, and none has to be sorted.
    std::string columns;
    for (const StoredColumn& c : stored) columns += fmt::format(", {}", c.name);
    Statement rows(self_->connection,
                   fmt::format("INSERT INTO {0} SELECT id + ?1{1} FROM shard.{0} WHERE id BETWEEN "
                               "?2 AND ?3 ORDER BY id",
                               table, columns));
    Size copied = 0;
    for (extent.bind(1, run); extent.step();) {
      rows.run(shift + extent.integer(2), extent.integer(0), extent.integer(1));
      copied += sqlite3_changes64(self_->connection.get());
    }
    extent.reset();
    return copied;
  };
  const Size copied = copy("outcome", stored_columns());
  for (const SideTable& table : side_tables()) copy(table.name, table.columns);
  if (copied != points)
    throw StoreError(
        fmt::format("{}: holds {} points of run {} where it should hold {}; it is damaged",
                    database.string(), copied, run, points));
  self_->connection.execute(
      fmt::format("INSERT OR REPLACE INTO longest_context SELECT id + {0}, tokens FROM "
                  "shard.longest_context WHERE id / {1} = {2}",
                  shift, run_stride, run));
  self_->add_extent({first, end - first});
  self_->progress.run(end, self_->stored + points, self_->reused, self_->run);
  transaction.commit();
  self_->next = end;
  self_->stored += points;
}

void Store::limit_longest_contexts_to(std::span<const Size> points) {
  Transaction transaction(self_->connection);
  Statement all(self_->connection, "SELECT id FROM longest_context WHERE id / ?1 = ?2");
  all.bind(1, run_stride);
  all.bind(2, self_->run);
  std::vector<Size> surplus;
  while (all.step())
    if (const Size point = all.integer(0) % run_stride; !std::ranges::binary_search(points, point))
      surplus.push_back(all.integer(0));
  Statement remove(self_->connection, "DELETE FROM longest_context WHERE id = ?1");
  for (const Size id : surplus) remove.run(id);
  transaction.commit();
}

Store::Pruned Store::prune(Size keep) {
  Connection& connection = self_->connection;
  const std::string kept = fmt::format(kept_runs, keep);
  const Size before = file_bytes(connection);
  Pruned pruned;
  {
    Transaction transaction(connection);
    pruned.runs =
        connection.integer(fmt::format("SELECT count(*) FROM run WHERE id NOT IN {}", kept));
    if (pruned.runs == 0) return pruned;
    connection.execute(
        fmt::format("CREATE TEMP TABLE gone AS SELECT id FROM run WHERE id NOT IN {};"
                    "DELETE FROM extent WHERE grid IN (SELECT id FROM grid WHERE run IN gone);"
                    "DELETE FROM grid WHERE run IN gone;"
                    "DELETE FROM axis_value WHERE run IN gone;"
                    "DELETE FROM model_source WHERE run IN gone;"
                    "DELETE FROM fact WHERE fingerprint NOT IN (SELECT fingerprint FROM "
                    "axis_value WHERE fingerprint IS NOT NULL);"
                    "DELETE FROM longest_context WHERE id / {} IN gone;"
                    "DELETE FROM run WHERE id IN gone; DROP TABLE gone;",
                    kept, run_stride));
    // Rows between the extents that stay belong to no run.
    Statement stay(connection, "SELECT first, last FROM extent ORDER BY first");
    Statement remove(connection, "DELETE FROM outcome WHERE id BETWEEN ?1 AND ?2");
    std::vector<Statement> remove_sidecars;
    for (const SideTable& table : side_tables())
      remove_sidecars.emplace_back(
          connection, fmt::format("DELETE FROM {} WHERE id BETWEEN ?1 AND ?2", table.name));
    Size free = 0;
    const auto remove_to = [&](Size end) {
      if (end <= free) return;
      for (Statement& each : remove_sidecars) each.run(free, end - 1);
      remove.run(free, end - 1);
      pruned.rows += sqlite3_changes64(connection.get());
    };
    while (stay.step()) {
      remove_to(stay.integer(0));
      free = std::max(free, std::min(stay.integer(1), std::numeric_limits<Size>::max() - 1) + 1);
    }
    remove_to(std::numeric_limits<Size>::max());
    transaction.commit();
  }
  connection.execute("VACUUM");
  sqlite3_exec(connection.get(), "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
  pruned.bytes = before - file_bytes(connection);
  return pruned;
}

}  // namespace headroom::report
