// The rows are virtual tables of a database in memory that holds nothing else: their columns are
// columns(), their values the cells at hand. An authoriser notes what the expression reads and
// denies all but reading. The first table never ends, so that one statement runs over all rows.
#include "report/condition.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>

#include "hardware/names.hpp"
#include "model/answer/explain.hpp"
#include "report/row_table.hpp"

namespace headroom::report {
namespace {

/// Steps of sqlite's machine that one row may take, in rounds after which sqlite asks.
constexpr int round_steps = 10'000;
constexpr int max_rounds = 100;
constexpr int max_bytes = 1'000'000;
/// Time limit of all rows together. A sensible expression takes less than a microsecond a row. One
/// function on a long text counts as one step of SQLite's machine.
constexpr std::chrono::microseconds max_per_row(20), max_at_first(1'000'000);
/// A row that seems to take longer was stopped by something else.
constexpr std::chrono::steady_clock::duration max_counted = std::chrono::milliseconds(50);

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Memory = std::unique_ptr<sqlite3, Close>;
using Prepared = std::unique_ptr<sqlite3_stmt, Close>;

Memory open_memory() {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(
      ":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, nullptr);
  Memory memory(raw);
  if (code != SQLITE_OK) throw std::runtime_error("sqlite cannot open a database in memory");
  for (const int limit : {SQLITE_LIMIT_LENGTH, SQLITE_LIMIT_SQL_LENGTH})
    sqlite3_limit(raw, limit, max_bytes);
  sqlite3_limit(raw, SQLITE_LIMIT_ATTACHED, 0);
  return memory;
}

Prepared prepare(const Memory& memory, const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(memory.get(), sql.c_str(), -1, &raw, &rest);
  Prepared prepared(raw);
  if (code != SQLITE_OK) throw ConditionError(sqlite3_errmsg(memory.get()));
  if (rest && *rest) throw ConditionError("one expression is expected, found more");
  if (const int last = sqlite3_bind_parameter_count(raw); last > 0) {
    const char* name = sqlite3_bind_parameter_name(raw, last);
    throw ConditionError(
        fmt::format("'{}' is a parameter, which has no value; expected a column, a number or a "
                    "text in single quotes",
                    name ? name : "?"));
  }
  return prepared;
}

/// Functions whose result follows from their arguments alone. Those of dates know today as
/// 'now', and zeroblob makes long texts of short ones.
std::set<std::string, std::less<>> plain_functions(const Memory& memory) {
  const Prepared list = prepare(
      memory, fmt::format("SELECT name FROM pragma_function_list WHERE flags & {} AND name NOT IN "
                          "('date', 'time', 'datetime', 'julianday', 'unixepoch', 'strftime', "
                          "'timediff', 'zeroblob') AND name NOT LIKE 'sqlite%'",
                          SQLITE_DETERMINISTIC));
  std::set<std::string, std::less<>> all;
  while (sqlite3_step(list.get()) == SQLITE_ROW)
    all.emplace(reinterpret_cast<const char*>(sqlite3_column_text(list.get(), 0)));
  return all;
}

/// The functions that the authoriser allows, and the columns that it saw.
struct Seen {
  const std::vector<const Column*>* known;
  std::set<std::string, std::less<>> functions;
  std::set<std::pair<std::string, std::string>> columns;  ///< {row, column}
  int selects = 0;

  const Column* find(std::string_view name) const {
    const auto at = std::ranges::find(*known, name, &Column::name);
    return at == known->end() ? nullptr : *at;
  }
};

int authorise(void* data, int action, const char* first, const char* second, const char*,
              const char*) {
  auto& seen = *static_cast<Seen*>(data);
  if (action == SQLITE_SELECT) return ++seen.selects > 1 ? SQLITE_DENY : SQLITE_OK;
  if (action == SQLITE_FUNCTION)
    return seen.functions.contains(second ? second : "") ? SQLITE_OK : SQLITE_DENY;
  if (action != SQLITE_READ) return SQLITE_DENY;
  if (!second || !*second) return SQLITE_OK;
  if (!seen.find(second)) return SQLITE_DENY;  // rowid
  seen.columns.emplace(first, second);
  return SQLITE_OK;
}

/// Comments would hide the end of the expression.
void check_text(const std::string& expression) {
  if (expression.find_first_not_of(" \t\r\n") == std::string::npos)
    throw ConditionError("an expression is expected, found nothing");
  if (expression.size() > 10'000) throw ConditionError("longer than 10,000 characters");
  char quote = 0;
  int depth = 0;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    const std::string_view two(expression.data() + i,
                               std::min<std::size_t>(2, expression.size() - i));
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"' || c == '`') {
      quote = c;
    } else if (two == "--" || two == "/*" || c == ';' || c == '\0') {
      throw ConditionError(fmt::format("'{}' is not allowed in it", c));
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && --depth < 0) {
      throw ConditionError("a ')' too many");
    }
  }
}

[[noreturn]] void explain(const std::string& expression, std::string problem,
                          const std::vector<const Column*>& columns) {
  constexpr std::string_view unknown = "no such column: ";
  if (const auto at = problem.find(unknown); at != std::string::npos) {
    std::string name = problem.substr(at + unknown.size());
    if (const auto dot = name.rfind('.'); dot != std::string::npos) name.erase(0, dot + 1);
    std::vector<std::string> known;
    for (const Column* c : columns) known.emplace_back(c->name);
    throw UnknownColumn(fmt::format("'{}': {}; nearest: {}", expression, problem,
                                    fmt::join(nearest(name, known), ", ")));
  }
  if (problem == "not authorized" || problem.starts_with("not authorized to use function"))
    problem += ": only columns, operators and plain functions are allowed, no SELECT";
  throw ConditionError(fmt::format("'{}': {}", expression, problem));
}

}  // namespace

struct Condition::Implementation {
  std::string expression;
  std::vector<const Column*> columns;
  std::vector<RowSource> rows;
  std::span<const Cell> cells;  ///< rounds of the current row
  int rounds = 0;               ///< rounds of the current row
  std::chrono::steady_clock::duration left = max_at_first;
  std::vector<Read> columns_read;
  Memory memory = open_memory();
  Prepared statement;
};

Condition::Condition(std::string expression, const std::vector<std::string>& rows,
                     std::span<const Column> more)
    : self_(std::make_unique<Implementation>()) {
  self_->expression = std::move(expression);
  const std::string& text = self_->expression;
  const auto nowhere = std::numeric_limits<std::size_t>::max();
  for (const auto all : {columns(), more})
    for (const Column& column : all) self_->columns.push_back(&column);
  self_->rows.resize(rows.size());
  std::string tables;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    self_->rows[row] = {row == 0, self_->columns, std::vector(self_->columns.size(), nowhere),
                        &self_->cells};
    add_row_table(self_->memory.get(), rows[row], self_->rows[row]);
    tables += fmt::format("{}\"{}\"", row == 0 ? "" : " CROSS JOIN ", rows[row]);
  }
  try {
    check_text(text);
    // A text in double quotes that is no column would silently be a text.
    sqlite3_db_config(self_->memory.get(), SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_db_config(self_->memory.get(), SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
    prepare(self_->memory,
            "SELECT 1 FROM " + tables);  // connects them, which the authoriser denies
    Seen seen{&self_->columns, plain_functions(self_->memory), {}};
    sqlite3_set_authorizer(self_->memory.get(), authorise, &seen);
    // An aggregate is an error only after WHERE.
    prepare(self_->memory, fmt::format("SELECT 1 FROM {} WHERE ({}\n)", tables, text));
    seen.selects = 0;
    self_->statement = prepare(self_->memory, fmt::format("SELECT ({}\n) FROM {}", text, tables));
    for (std::size_t row = 0; row < rows.size(); ++row)
      for (const auto& [table, name] : seen.columns) {
        if (table != rows[row]) continue;
        const auto at = std::ranges::find(self_->columns, name, &Column::name);
        self_->rows[row].places[static_cast<std::size_t>(at - self_->columns.begin())] =
            self_->columns_read.size();
        self_->columns_read.push_back({row, *at});
      }
    if (self_->columns_read.empty()) throw ConditionError("reads no column");
    sqlite3_set_authorizer(self_->memory.get(), nullptr, nullptr);
  } catch (const ConditionError& e) {
    explain(text, e.what(), self_->columns);
  }
  sqlite3_progress_handler(
      self_->memory.get(), round_steps,
      [](void* rounds) { return ++*static_cast<int*>(rounds) > max_rounds ? 1 : 0; },
      &self_->rounds);
}

Condition::~Condition() = default;
Condition::Condition(Condition&&) noexcept = default;

std::span<const Condition::Read> Condition::columns_read() const { return self_->columns_read; }

bool Condition::holds(std::span<const Cell> values) const {
  sqlite3_stmt* statement = self_->statement.get();
  self_->cells = values;
  self_->rounds = 0;
  const auto start = std::chrono::steady_clock::now();
  const int code = sqlite3_step(statement);
  self_->left += max_per_row - std::min(std::chrono::steady_clock::now() - start, max_counted);
  const bool late = self_->left < self_->left.zero();
  if (code != SQLITE_ROW || late) {
    const std::string problem =
        late ? "takes too long for each row" : sqlite3_errmsg(self_->memory.get());
    sqlite3_reset(statement);
    explain(self_->expression, problem, self_->columns);
  }
  return sqlite3_column_type(statement, 0) != SQLITE_NULL &&
         sqlite3_column_double(statement, 0) != 0;
}

}  // namespace headroom::report
