// The rows of the column list by kind, for columns.cpp alone.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "model/infer/intervals.hpp"
#include "report/columns.hpp"

namespace headroom::report {

/// In SQL, which time of an outcome no measurement stands behind.
inline constexpr std::string_view first_unmeasured = "status >> 27 & 1",
                                  step_unmeasured = "status >> 28 & 1",
                                  either_unmeasured = "status >> 27 & 3";
/// A factor as IntervalFactors::wider gives it: the end of `fact` where `unmeasured` does not hold,
/// else at least as far out as the guess. `end`: "low" or "high".
std::string wider_factor(std::string_view fact, std::string_view unmeasured,
                         const model::Interval& guess, std::string_view end);

/// The factors on a first token and on a step as IntervalFactors::times chooses them, in SQL.
std::string first_factor(std::string_view end);
std::string step_factor(std::string_view end);

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
