#include "report/output_cost.hpp"

#include <algorithm>

#include "model/answer/cost.hpp"

namespace headroom::report {
namespace {

double value_at(const Axes& axes, Size point, std::string_view column) {
  return number_of(axes.value(column, point), 1);
}

/// Money for a million output tokens where the machine completes `requests_s`.
double cost_at(const Axes& axes, Size point, double per_hour, double requests_s) {
  model::Scenario scenario;
  scenario.prompt_tokens = static_cast<Size>(value_at(axes, point, "prompt_tokens"));
  scenario.output_tokens = static_cast<Size>(value_at(axes, point, "output_tokens"));
  return model::token_cost(per_hour, value_at(axes, point, "utilisation"), requests_s, scenario)
      .output_per_million;
}

/// The least of hourly_columns; none where the run has no price.
std::optional<double> least_hourly(const Axes& axes, Size point) {
  std::optional<double> least;
  for (const auto column : hourly_columns)
    if (const double price = number_of(axes.value(column, point), 0); price > 0)
      least = std::min(price, least.value_or(price));
  return least;
}

}  // namespace

double output_cost(const Axes& axes, const ModelRow& line, double per_hour) {
  const Size point = line.entries.front().point;
  model::Scenario scenario;
  scenario.batch = static_cast<Size>(value_at(axes, point, "batch"));
  scenario.prompt_tokens = static_cast<Size>(value_at(axes, point, "prompt_tokens"));
  scenario.output_tokens = static_cast<Size>(value_at(axes, point, "output_tokens"));
  const auto replicas = static_cast<Size>(value_at(axes, point, "data_parallel"));
  const model::Service batch = model::of_one_batch(scenario, line.roomiest().estimate);
  return cost_at(axes, point, per_hour,
                 static_cast<double>(std::max<Size>(1, replicas)) * batch.requests_s);
}

std::optional<double> cheapest_output_cost(const Axes& axes, const ModelRow& line) {
  if (line.roomiest().estimate.tokens_s <= 0) return std::nullopt;
  const auto hour = least_hourly(axes, line.entries.front().point);
  return hour ? std::optional(output_cost(axes, line, *hour)) : std::nullopt;
}

std::optional<double> served_output_cost(const Axes& axes, Size point,
                                         const model::Estimate& estimate) {
  const auto hour = least_hourly(axes, point);
  if (!hour || estimate.served.requests_s <= 0) return std::nullopt;
  return cost_at(axes, point, *hour, estimate.served.requests_s);
}

}  // namespace headroom::report
