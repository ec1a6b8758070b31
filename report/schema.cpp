// The statements that create a database, written from the column list.
//
// For each axis and fact, a grid row has the first row of its values in axis_value, and the stride
// and size of its digit. `result` uses them to find the value of a point, with one look-up by rowid
// for each queried column. An outcome's rowid is run * 2^40 + point of the run that computed it. A
// run is a list of extents, which are ranges of its own or an earlier run's rows. Each has the
// number that converts a rowid to run * 2^40 + point of this run.
#include <fmt/format.h>

#include <numeric>
#include <string>

#include "report/columns.hpp"

namespace headroom::report {
namespace {

bool is_axis(const Column& c) { return c.kind == ColumnKind::axis || c.kind == ColumnKind::fact; }

std::string axis_sql(std::string_view name) {
  return fmt::format(
      "(SELECT value FROM axis_value WHERE id = "
      "g.{0}_at + (o.id + e.shift - g.first) / g.{0}_stride % g.{0}_size)",
      name);
}

std::string column_sql(const Column& c) {
  if (c.kind == ColumnKind::point) return "(o.id + e.shift) & 1099511627775";
  if (is_axis(c)) return axis_sql(c.name);
  if (c.kind != ColumnKind::derived) return c.sql;
  std::string sql;
  for (std::size_t at = 0, open; at < c.sql.size();) {
    open = c.sql.find('[', at);
    sql += c.sql.substr(at, open - at);
    if (open == std::string::npos) break;
    const auto close = c.sql.find(']', open);
    sql += axis_sql(std::string_view(c.sql).substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return sql;
}

std::string view(std::string_view name, std::string_view first_column, std::string_view condition) {
  std::string sql = fmt::format("CREATE {} AS SELECT {}", name, first_column);
  for (const Column& c : columns()) sql += fmt::format("{} AS {},\n  ", column_sql(c), c.name);
  sql.resize(sql.size() - 4);
  return sql + fmt::format(
                   "\nFROM grid AS g CROSS JOIN extent AS e CROSS JOIN outcome AS o "
                   "WHERE e.grid = g.id AND o.id BETWEEN e.first AND e.last{};\n",
                   condition);
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

std::string_view word_of(SqlType type) {
  if (type == SqlType::integer) return "integer";
  return type == SqlType::real ? "real" : "text";
}

std::string make_tables() {
  std::string sql =
      "CREATE TABLE run (id INTEGER PRIMARY KEY, name TEXT NOT NULL, spec TEXT NOT NULL,\n"
      "  fingerprint TEXT NOT NULL, version TEXT NOT NULL, started TEXT NOT NULL, finished TEXT,\n"
      "  points INTEGER NOT NULL DEFAULT 0, reused INTEGER NOT NULL DEFAULT 0,\n"
      "  next_point INTEGER NOT NULL, first_point INTEGER NOT NULL, end_point INTEGER NOT NULL,\n"
      "  all_points INTEGER NOT NULL);\n"
      "CREATE TABLE model_source (run INTEGER NOT NULL REFERENCES run, model TEXT NOT NULL,\n"
      "  source TEXT NOT NULL, doubt TEXT NOT NULL);\n"
      "CREATE TABLE axis_value (id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run,\n"
      "  grid INTEGER NOT NULL, digit INTEGER NOT NULL, axis TEXT NOT NULL,\n"
      "  position INTEGER NOT NULL, value, fingerprint INTEGER);\n"
      "CREATE INDEX axis_value_run ON axis_value (run);\n"
      "CREATE TABLE fact (fingerprint INTEGER NOT NULL, part TEXT NOT NULL,\n"
      "  owner TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, unit TEXT NOT NULL);\n"
      "CREATE INDEX fact_fingerprint ON fact (fingerprint);\n"
      "CREATE TABLE grid (id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run,\n"
      "  first INTEGER NOT NULL, last INTEGER NOT NULL, excluded TEXT NOT NULL";
  for (const Column& c : columns())
    if (is_axis(c))
      sql += fmt::format(",\n  {0}_at INTEGER, {0}_stride INTEGER, {0}_size INTEGER", c.name);
  sql +=
      ");\n"
      "CREATE TABLE extent (id INTEGER PRIMARY KEY, grid INTEGER NOT NULL REFERENCES grid,\n"
      "  first INTEGER NOT NULL, last INTEGER NOT NULL, shift INTEGER NOT NULL);\n"
      "CREATE INDEX extent_grid ON extent (grid);\n"
      "CREATE TABLE outcome (id INTEGER PRIMARY KEY";
  const auto stored = [&](std::span<const StoredColumn> all) {
    for (const StoredColumn& c : all)
      sql += fmt::format(", {} {}", c.name, c.type == SqlType::integer ? "INTEGER" : "REAL");
  };
  stored(stored_columns());
  for (const SideTable& table : side_tables()) {
    sql += fmt::format(");\nCREATE TABLE {} (id INTEGER PRIMARY KEY", table.name);
    stored(table.columns);
  }
  return sql +
         ");\n"
         "CREATE TABLE longest_context (id INTEGER PRIMARY KEY, tokens INTEGER NOT NULL);\n"
         "CREATE TABLE column_meaning (name TEXT PRIMARY KEY, unit TEXT NOT NULL,\n"
         "  meaning TEXT NOT NULL, type TEXT NOT NULL);\n";
}

std::string make_views(std::string_view temporary) {
  std::string sql =
      view(fmt::format("{}VIEW result", temporary), "",
           fmt::format(" AND g.run = (SELECT max(id) FROM run WHERE {})", complete_run)) +
      view(fmt::format("{}VIEW result_all", temporary), "g.run AS run, ", "");
  return sql;
}

}  // namespace

std::string create_tables() {
  static const std::string text = make_tables();
  return text;
}

std::string create_views() {
  std::string sql = "DROP VIEW IF EXISTS result;\nDROP VIEW IF EXISTS result_all;\n";
  sql += make_views("") + "DELETE FROM column_meaning;\n";
  for (const Column& c : columns())
    sql += fmt::format("INSERT INTO column_meaning VALUES ({}, {}, {}, {});\n", quoted(c.name),
                       quoted(c.unit), quoted(c.meaning), quoted(word_of(c.type)));
  return sql;
}

std::string create_temporary_views() { return make_views("TEMP "); }

// FNV-1a over the tables themselves, so that a change cannot be forgotten.
std::int32_t schema_version() {
  const std::string text = create_tables();
  const auto hash = std::accumulate(
      text.begin(), text.end(), std::uint32_t{2166136261},
      [](std::uint32_t h, char c) { return (h ^ static_cast<unsigned char>(c)) * 16777619u; });
  return static_cast<std::int32_t>(hash & 0x7fffffff);
}

}  // namespace headroom::report
