// The rows of the column list by kind, for columns.cpp alone.
#pragma once

#include <cmath>
#include <vector>

#include "report/columns.hpp"

namespace headroom::report {

/// Infinite: empty.
inline Cell finite(double value) { return std::isfinite(value) ? Cell(value) : Cell(); }

void add_axis_columns(std::vector<Column>& all);
void add_fact_columns(std::vector<Column>& all);
void add_memory_columns(std::vector<Column>& all);
void add_time_columns(std::vector<Column>& all);
void add_serving_columns(std::vector<Column>& all);
void add_training_axes(std::vector<Column>& all);
void add_training_columns(std::vector<Column>& all);

}  // namespace headroom::report
