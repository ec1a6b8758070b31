// The reader: runs, their axes and their rows.
#include "report/read.hpp"

#include <fmt/format.h>

#include <limits>

#include "report/sqlite.hpp"

namespace headroom::report {
namespace {

constexpr Size run_stride = Size{1} << 40;

/// The row of `outcome` that the statement stands on. NULL times are infinite ones.
model::Estimate restored(Statement& row) {
  model::Estimate estimate;
  int at = 0;
  for (const StoredColumn& c : stored_columns()) {
    ++at;
    if (c.restore_integer)
      c.restore_integer(estimate, row.integer(at));
    else
      c.restore_real(estimate, sqlite3_column_type(row.get(), at) == SQLITE_NULL
                                   ? std::numeric_limits<double>::infinity()
                                   : sqlite3_column_double(row.get(), at));
  }
  return estimate;
}

}  // namespace

struct Database::Implementation {
  explicit Implementation(std::filesystem::path file)
      : connection(std::move(file), Access::read),
        point(connection, "SELECT * FROM outcome WHERE id = ?1") {}
  Connection connection;
  Statement point;
};

Database::Database(std::filesystem::path file) : self_(new Implementation(std::move(file))) {}
Database::~Database() = default;
Database::Database(Database&&) noexcept = default;

const std::filesystem::path& Database::file() const { return self_->connection.file(); }

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
  Statement model(self_->connection,
                  "SELECT model, source FROM model_source WHERE run = ?1 ORDER BY rowid");
  model.bind(1, id);
  while (model.step()) info.models.push_back({model.text(0), model.text(1)});
  Statement value(
      self_->connection,
      "SELECT grid, digit, axis, position, value FROM axis_value WHERE run = ?1 ORDER BY id");
  value.bind(1, id);
  while (value.step()) {
    info.grids.resize(static_cast<std::size_t>(value.integer(0)) + 1);
    auto& digits = info.grids.back().digits;
    digits.resize(static_cast<std::size_t>(value.integer(1)) + 1);
    if (value.integer(3) == 0) digits.back().push_back({value.text(2), {}});
    digits.back().back().values.push_back(value.value(4));
  }
  return info;
}

void Database::for_each(std::int64_t run,
                        const std::function<void(Size, const model::Estimate&)>& visit) const {
  Statement row(self_->connection, "SELECT * FROM outcome WHERE id BETWEEN ?1 AND ?2 ORDER BY id");
  row.bind(1, run * run_stride);
  row.bind(2, run * run_stride + run_stride - 1);
  while (row.step()) visit(row.integer(0) & (run_stride - 1), restored(row));
}

std::optional<model::Estimate> Database::find(std::int64_t run, Size point) const {
  self_->point.bind(1, run * run_stride + point);
  std::optional<model::Estimate> found;
  if (self_->point.step()) found = restored(self_->point);
  self_->point.reset();
  return found;
}

std::optional<Size> Database::longest_context(std::int64_t run, Size point) const {
  Statement row(self_->connection, "SELECT tokens FROM longest_context WHERE id = ?1");
  row.bind(1, run * run_stride + point);
  return row.step() ? std::optional(row.integer(0)) : std::nullopt;
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
