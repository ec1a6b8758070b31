// One row of columns as a table of sqlite, whose values are cells in memory.
#pragma once

#include <sqlite3.h>

#include <span>
#include <string>
#include <vector>

#include "report/columns.hpp"

namespace headroom::report {

struct RowSource {
  bool endless = false;  ///< one row again and again, with the current cells
  std::vector<const Column*> columns;
  std::vector<std::size_t> places;  ///< place of each column in `cells`; beyond its end: no value
  const std::span<const Cell>* cells = nullptr;
};

/// Makes `row` a table of the database, `name`. `row` outlives the database.
void add_row_table(sqlite3* database, const std::string& name, const RowSource& row);

}  // namespace headroom::report
