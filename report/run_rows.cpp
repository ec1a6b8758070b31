#include "report/run_rows.hpp"

#include <fmt/format.h>

#include "report/columns.hpp"
#include "report/store.hpp"

namespace headroom::report {
namespace {

/// Adds a row of axis_value: grid, digit, axis, position, value, fingerprint. Rows stand in the
/// order in which they are written, each at the end of the axes so far. False if a row does not, or
/// names no column.
bool add_axis_value(Statement& row, std::vector<GridShape>& grids) {
  const auto next = [](auto& all, std::int64_t number) {
    const auto size = static_cast<std::int64_t>(all.size());
    if (number == size) all.emplace_back();
    return number >= 0 && (number == size || number == size - 1);
  };
  if (!next(grids, row.integer(0)) || !next(grids.back().digits, row.integer(1))) return false;
  Digit& digit = grids.back().digits.back();
  if (row.integer(3) == 0) {
    if (find_column(row.text(2)) == nullptr) return false;
    digit.push_back({row.text(2), {}});
  }
  if (digit.empty() || row.integer(3) != static_cast<std::int64_t>(digit.back().values.size()))
    return false;
  digit.back().values.push_back(row.value(4));
  if (sqlite3_column_type(row.get(), 5) == SQLITE_INTEGER)
    digit.back().fingerprints.push_back(row.integer(5));
  return true;
}

/// True if the axes of each digit, which move together, are equally long.
bool are_whole(const std::vector<GridShape>& grids) {
  for (const GridShape& grid : grids)
    for (const Digit& digit : grid.digits)
      for (const Axis& axis : digit) {
        const bool named =
            axis.fingerprints.empty() || axis.fingerprints.size() == axis.values.size();
        if (!named || axis.values.size() != digit.front().values.size()) return false;
      }
  return true;
}

}  // namespace

RunInfo read_run(const Connection& connection, std::int64_t id) {
  Statement row(connection, "SELECT name, spec, fingerprint, version FROM run WHERE id = ?1");
  row.bind(1, id);
  if (!row.step())
    throw StoreError(fmt::format("{}: has no run {}", connection.file().string(), id));
  RunInfo info{row.text(0), row.text(1), row.text(2), row.text(3), {}};
  Statement model(connection,
                  "SELECT model, source, doubt FROM model_source WHERE run = ?1 ORDER BY rowid");
  model.bind(1, id);
  while (model.step()) info.models.push_back({model.text(0), model.text(1), model.text(2)});
  Statement value(
      connection,
      "SELECT grid, digit, axis, position, value, fingerprint FROM axis_value WHERE run = ?1 "
      "ORDER BY id");
  value.bind(1, id);
  bool sound = true;
  while (sound && value.step()) sound = add_axis_value(value, info.grids);
  if (!sound || !are_whole(info.grids))
    throw StoreError(
        fmt::format("{}: is damaged: the axes of run {} are not as a sweep writes them",
                    connection.file().string(), id));
  Statement fact(
      connection,
      "SELECT fingerprint, part, owner, name, value, unit FROM fact WHERE fingerprint IN "
      "(SELECT fingerprint FROM axis_value WHERE run = ?1) ORDER BY rowid");
  fact.bind(1, id);
  while (fact.step())
    info.facts[fact.integer(0)].push_back(
        {fact.text(1), fact.text(2), fact.text(3), fact.text(4), fact.text(5)});
  Statement grid(connection, "SELECT excluded FROM grid WHERE run = ?1 ORDER BY id");
  grid.bind(1, id);
  for (GridShape& shape : info.grids)
    if (grid.step()) shape.excluded = grid.text(0);
  return info;
}

}  // namespace headroom::report
