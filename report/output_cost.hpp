// Money for output tokens of a line, by the prices of its run.
#pragma once

#include <optional>
#include <string_view>

#include "report/reports.hpp"

namespace headroom::report {

/// Columns of what an hour of a machine costs, by the way it is come by.
inline constexpr std::string_view hourly_columns[] = {"owned_per_hour", "used_per_hour",
                                                      "rent_per_hour"};

/// Money for a million output tokens at the batch and lengths that the line is shown at, where an
/// hour of its machine costs `per_hour` (model::token_cost).
double output_cost(const Axes& axes, const ModelRow& line, double per_hour);
/// By the cheapest of hourly_columns; none where the run has no price, or the line does not run.
std::optional<double> cheapest_output_cost(const Axes& axes, const ModelRow& line);
/// Money for a million output tokens under the load of a point with a concurrency, likewise.
std::optional<double> served_output_cost(const Axes& axes, Size point,
                                         const model::Estimate& estimate);

}  // namespace headroom::report
