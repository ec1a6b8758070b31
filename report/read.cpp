// The reader: runs, their axes and their rows.
#include "report/read.hpp"

#include <limits>

#include "fmt/format.h"
#include "report/sqlite.hpp"

namespace headroom::report {
namespace {

constexpr Size run_stride = Size{1} << 40;

AxisValue axis_value(Statement& row, int column) { return row.value(column); }

}  // namespace

struct Database::Implementation {
  Connection connection;
};

Database::Database(std::filesystem::path file)
    : self_(new Implementation{Connection(std::move(file), Access::read)}) {}
Database::~Database() = default;
Database::Database(Database&&) noexcept = default;

std::vector<RunSummary> Database::runs() const {
  Statement row(
      self_->connection,
      "SELECT id, name, version, fingerprint, started, finished, points FROM run ORDER BY id");
  std::vector<RunSummary> all;
  while (row.step())
    all.push_back({row.integer(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5),
                   row.integer(6)});
  return all;
}

std::int64_t Database::latest_run() const {
  const auto id = self_->connection.integer("SELECT max(id) FROM run WHERE finished IS NOT NULL");
  if (id == 0)
    throw StoreError(fmt::format("{}: has no complete run; finish the sweep first",
                                 self_->connection.file().string()));
  return id;
}

RunInfo Database::run(std::int64_t id) const {
  Statement row(self_->connection,
                "SELECT name, spec, fingerprint, version FROM run WHERE id = ?1");
  row.bind(1, id);
  if (!row.step())
    throw StoreError(fmt::format("{}: has no run {}", self_->connection.file().string(), id));
  RunInfo info{row.text(0), row.text(1), row.text(2), row.text(3), {}};
  Statement value(
      self_->connection,
      "SELECT grid, digit, axis, position, value FROM axis_value WHERE run = ?1 ORDER BY id");
  value.bind(1, id);
  while (value.step()) {
    info.grids.resize(static_cast<std::size_t>(value.integer(0)) + 1);
    auto& digits = info.grids.back().digits;
    digits.resize(static_cast<std::size_t>(value.integer(1)) + 1);
    if (value.integer(3) == 0) digits.back().push_back({value.text(2), {}});
    digits.back().back().values.push_back(axis_value(value, 4));
  }
  return info;
}

void Database::for_each(std::int64_t run,
                        const std::function<void(Size, const model::Estimate&)>& visit) const {
  Statement row(self_->connection, "SELECT * FROM outcome WHERE id BETWEEN ?1 AND ?2 ORDER BY id");
  row.bind(1, run * run_stride);
  row.bind(2, run * run_stride + run_stride - 1);
  const auto stored = stored_columns();
  while (row.step()) {
    model::Estimate estimate;
    int at = 0;
    for (const StoredColumn& c : stored) {
      ++at;
      if (c.restore_integer)
        c.restore_integer(estimate, row.integer(at));
      else
        c.restore_real(estimate, sqlite3_column_type(row.get(), at) == SQLITE_NULL
                                     ? std::numeric_limits<double>::infinity()
                                     : sqlite3_column_double(row.get(), at));
    }
    visit(row.integer(0) & (run_stride - 1), estimate);
  }
}

Table Database::query(const std::string& sql, std::int64_t run) const {
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
