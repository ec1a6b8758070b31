// The open database of a Store, for store*.cpp alone.
#pragma once

#include <string>
#include <vector>

#include "model/infer/estimate.hpp"
#include "report/columns.hpp"
#include "report/file_lock.hpp"
#include "report/sqlite.hpp"
#include "report/store.hpp"

namespace headroom::report {

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

/// "INSERT INTO TABLE VALUES (?1, …".
std::string insert_sql(std::string_view table, std::span<const StoredColumn> columns);

struct Store::Implementation {
  explicit Implementation(const std::filesystem::path& file)
      : lock(created(file)),
        connection(file, Access::write),
        insert(connection, insert_sql("outcome", stored_columns())),
        progress(connection, "UPDATE run SET next_point=?1, points=?2, reused=?3 WHERE id=?4"),
        new_extent(connection,
                   "INSERT INTO extent (grid, first, last, shift) VALUES (?1,?2,?3,?4)"),
        longer_extent(connection, "UPDATE extent SET last=?1 WHERE id=?2") {
    for (const SideTable& table : side_tables())
      insert_extra.emplace_back(connection, insert_sql(table.name, table.columns));
  }

  static const std::filesystem::path& created(const std::filesystem::path& file) {
    std::error_code ignored;  // Connection says what is wrong with the folder
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
    return file;
  }

  bool resume(const std::string& fingerprint);

  void insert_grid(Size number, const GridShape& grid);
  /// Facts of fingerprints that no run had before.
  void insert_facts(const RunInfo& info);
  void insert_row(Size point, const model::Estimate& estimate);
  /// Notes where points are, going on with the last extent where they follow it.
  void add_extent(const RowRange& piece);

  struct GridRow {
    std::int64_t id = 0;
    Size first = 0, end = 0;  ///< points
  };

  FileLock lock;
  Connection connection;
  std::vector<Statement> insert_extra;  ///< by side table
  Statement insert, progress, new_extent, longer_extent;
  std::int64_t run = 0;
  bool finished = false;
  Size begin = 0, next = 0, end = 0, all = 0, stored = 0, reused = 0;
  std::vector<GridRow> grids;
  std::int64_t extent = 0, extent_grid = 0;  ///< the last one, 0: none
  Size extent_last = 0, extent_shift = 0;
};

}  // namespace headroom::report
