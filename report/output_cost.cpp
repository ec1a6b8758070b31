#include "report/output_cost.hpp"

#include <algorithm>

#include "model/answer/cost.hpp"

namespace headroom::report {

double output_cost(const Axes& axes, const ModelRow& line, double per_hour) {
  const auto value = [&](std::string_view column) {
    return number_of(axes.value(column, line.entries.front().point), 1);
  };
  model::Scenario scenario;
  scenario.batch = static_cast<Size>(value("batch"));
  scenario.prompt_tokens = static_cast<Size>(value("prompt_tokens"));
  scenario.output_tokens = static_cast<Size>(value("output_tokens"));
  const auto replicas = static_cast<Size>(value("data_parallel"));
  const model::Service batch = model::of_one_batch(scenario, line.roomiest().estimate);
  const double requests_s = static_cast<double>(std::max<Size>(1, replicas)) * batch.requests_s;
  return model::token_cost(per_hour, value("utilisation"), requests_s, scenario).output_per_million;
}

std::optional<double> cheapest_output_cost(const Axes& axes, const ModelRow& line) {
  if (line.roomiest().estimate.tokens_s <= 0) return std::nullopt;
  std::optional<double> least;
  for (const auto column : hourly_columns) {
    const double price = number_of(axes.value(column, line.entries.front().point), 0);
    if (price <= 0) continue;
    const double cost = output_cost(axes, line, price);
    least = std::min(cost, least.value_or(cost));
  }
  return least;
}

}  // namespace headroom::report
