// The readable columns in their order, and their values.
#include "report/columns.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/column_rows.hpp"

namespace headroom::report {
namespace {

std::vector<Column> make_columns() {
  std::vector<Column> all;
  all.push_back({"point",
                 "",
                 "point",
                 "number of the point in its run",
                 ColumnKind::point,
                 SqlType::integer,
                 DisplayUnit::plain,
                 {},
                 {}});
  add_axis_columns(all);
  add_training_axes(all);
  add_memory_columns(all);
  add_time_columns(all);
  add_serving_columns(all);
  add_training_columns(all);
  add_fact_columns(all);
  return all;
}

}  // namespace

std::span<const Column> columns() {
  static const std::vector<Column> all = make_columns();
  return all;
}

const Column* find_column(std::string_view name) {
  const auto all = columns();
  const auto found = std::ranges::find(all, name, &Column::name);
  return found == all.end() ? nullptr : &*found;
}

Cell value_of(const Column& column, const model::Estimate& estimate,
              const model::IntervalFactors& factors) {
  if (const auto* get = std::get_if<OfEstimate>(&column.origin)) return (*get)(estimate);
  if (const auto* get = std::get_if<OfFactors>(&column.origin)) return (*get)(estimate, factors);
  return {};
}

}  // namespace headroom::report
