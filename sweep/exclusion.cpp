// The digits become small tables in memory, joined only where the condition reads them: sqlite's
// authorizer says which those are.
#include "sweep/exclusion.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <set>

#include "hardware/names.hpp"
#include "report/columns.hpp"

namespace headroom::sweep {
namespace {

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

Database open_memory() {
  sqlite3* raw = nullptr;
  const int status = sqlite3_open(":memory:", &raw);
  Database database(raw);
  if (status != SQLITE_OK) throw std::runtime_error("sqlite cannot open a database in memory");
  return database;
}

Statement prepare(const Database& database, const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database.get(), sql.c_str(), -1, &raw, nullptr) != SQLITE_OK)
    throw std::invalid_argument(sqlite3_errmsg(database.get()));
  return Statement(raw);
}

void run(const Database& database, const std::string& sql) {
  if (sqlite3_exec(database.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    throw std::runtime_error(sqlite3_errmsg(database.get()));
}

void bind(const Statement& statement, int at, const report::AxisValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    sqlite3_bind_int64(statement.get(), at, *whole);
  else if (const auto* real = std::get_if<double>(&value))
    sqlite3_bind_double(statement.get(), at, *real);
  else if (const auto* text = std::get_if<std::string>(&value))
    sqlite3_bind_text(statement.get(), at, text->data(), static_cast<int>(text->size()),
                      SQLITE_TRANSIENT);
  else
    sqlite3_bind_null(statement.get(), at);
}

std::string table_name(std::size_t digit) { return fmt::format("digit_{}", digit); }

/// One table a digit: its values in order, `place` counting them from 0.
void add_digit(const Database& database, std::size_t number, const report::Digit& digit) {
  std::string names, marks;
  for (const auto& axis : digit) {
    names += ", " + axis.column;
    marks += ", ?";
  }
  run(database,
      fmt::format("CREATE TABLE {} (place INTEGER PRIMARY KEY{})", table_name(number), names));
  const auto insert =
      prepare(database, fmt::format("INSERT INTO {} VALUES (?{})", table_name(number), marks));
  for (std::size_t i = 0; i < digit.front().values.size(); ++i) {
    sqlite3_bind_int64(insert.get(), 1, static_cast<sqlite3_int64>(i));
    int at = 1;
    for (const auto& axis : digit) bind(insert, ++at, axis.values[i]);
    sqlite3_step(insert.get());
    sqlite3_reset(insert.get());
  }
}

/// Notes the tables that columns are read from; allows nothing but reading them. A table that is
/// only joined is announced with an empty column.
int note_reads(void* reads, int action, const char* table, const char* column, const char*,
               const char*) {
  if (action == SQLITE_SELECT || action == SQLITE_FUNCTION) return SQLITE_OK;
  if (action != SQLITE_READ || !std::string_view(table).starts_with("digit_")) return SQLITE_DENY;
  if (column && *column) static_cast<std::set<std::string>*>(reads)->insert(table);
  return SQLITE_OK;
}

std::string join_sql(const std::vector<std::size_t>& digits, const std::string& columns,
                     const std::string& condition) {
  std::string tables;
  for (const auto digit : digits) tables += (tables.empty() ? "" : ", ") + table_name(digit);
  return fmt::format("SELECT {} FROM {} WHERE ({}\n)", columns, tables, condition);
}

[[noreturn]] void explain(const std::string& condition, const std::string& problem,
                          const report::GridShape& shape) {
  std::vector<std::string> known;
  for (const auto& digit : shape.digits)
    for (const auto& axis : digit) known.push_back(axis.column);
  std::string message = fmt::format("'{}': {}", condition, problem);
  if (const auto at = problem.find("no such column: "); at != std::string::npos) {
    const std::string name = problem.substr(at + 16);
    message += report::find_column(name)
                   ? "; it is an outcome, and a condition here sees only axes"
                   : fmt::format("; nearest: {}", fmt::join(nearest(name, known), ", "));
  }
  throw std::invalid_argument(fmt::format("{}; columns: {}", message, fmt::join(known, ", ")));
}

}  // namespace

Exclusion::Exclusion(const std::string& condition, const report::GridShape& shape) {
  const auto database = open_memory();
  std::vector<std::size_t> all(shape.digits.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    all[k] = k;
    add_digit(database, k, shape.digits[k]);
  }
  std::set<std::string> reads;
  try {
    sqlite3_set_authorizer(database.get(), note_reads, &reads);
    prepare(database, join_sql(all, "1", condition));
    Size cells = 1;
    std::string places;
    for (const auto digit : all) {
      if (!reads.contains(table_name(digit))) continue;
      const Size radix = static_cast<Size>(shape.digits[digit].front().values.size());
      if (cells > most_combinations / radix)
        throw std::invalid_argument(
            "depends on more than 2*10^7 combinations of axis values; split the grid instead");
      cells *= radix;
      digits_.push_back(digit);
      radices_.push_back(radix);
      places += (places.empty() ? "" : ", ") + table_name(digit) + ".place";
    }
    if (digits_.empty()) throw std::invalid_argument("reads no column");
    bits_.assign(static_cast<std::size_t>(cells), false);
    const auto query = prepare(database, join_sql(digits_, places, condition));
    int status = SQLITE_ROW;
    while ((status = sqlite3_step(query.get())) == SQLITE_ROW) {
      Size cell = 0;
      for (std::size_t k = 0; k < digits_.size(); ++k)
        cell = cell * radices_[k] + sqlite3_column_int64(query.get(), static_cast<int>(k));
      bits_[static_cast<std::size_t>(cell)] = true;
    }
    if (status != SQLITE_DONE) throw std::invalid_argument(sqlite3_errmsg(database.get()));
  } catch (const std::invalid_argument& e) {
    explain(condition, e.what(), shape);
  }
}

}  // namespace headroom::sweep
