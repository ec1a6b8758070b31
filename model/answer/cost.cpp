#include "model/answer/cost.hpp"

namespace headroom::model {

std::string_view name_of(Acquisition acquisition) {
  switch (acquisition) {
    case Acquisition::buy:
      return "buy";
    case Acquisition::used:
      return "used";
    case Acquisition::rent:
      return "rent";
  }
  return {};
}

std::optional<double> power_w(const Machine& machine) {
  if (!(machine.host.power_w > 0)) return std::nullopt;
  double watts = machine.host.power_w;
  for (const Device& card : machine.devices) {
    if (!(card.power_w > 0)) return std::nullopt;
    watts += card.power_w;
  }
  return watts;
}

double utilisation_of(const Prices& prices) { return prices.utilisation.value_or(1); }

std::optional<double> purchase(const Prices& prices, const Machine& machine,
                               Acquisition acquisition) {
  switch (acquisition) {
    case Acquisition::buy:
      return purchase_price(prices, machine);
    case Acquisition::used:
      return used_price(prices, machine);
    case Acquisition::rent:
      break;
  }
  return std::nullopt;
}

std::optional<HourlyCost> hourly_cost(const Prices& prices, const Machine& machine,
                                      Acquisition acquisition) {
  if (acquisition == Acquisition::rent) {
    const auto rent = rent_per_hour(prices, machine);
    return rent ? std::optional(HourlyCost{*rent, 0}) : std::nullopt;
  }
  const auto price = purchase(prices, machine, acquisition);
  const auto watts = power_w(machine);
  if (!price || !watts || !prices.amortisation_years || !prices.electricity_per_kwh)
    return std::nullopt;
  return HourlyCost{*price / (*prices.amortisation_years * hours_per_year),
                    *watts / 1000 * prices.power_usage_effectiveness.value_or(1) *
                        *prices.electricity_per_kwh * utilisation_of(prices)};
}

TokenCost token_cost(double hourly, double utilisation, double requests_s,
                     const Scenario& scenario) {
  const double request = hourly / (3600 * utilisation * requests_s);
  const double weighted = static_cast<double>(scenario.prompt_tokens) +
                          output_weight * static_cast<double>(scenario.output_tokens);
  const double input = request / weighted * 1e6;
  return {request, input, output_weight * input};
}

double tokens_per_joule(const Scenario& scenario, const Service& service, Size replicas,
                        double watts) {
  return static_cast<double>(replicas) * service.output_tokens_s(scenario) / watts;
}

std::optional<double> break_even_months(double purchase, const HourlyCost& owned,
                                        double other_per_hour) {
  const double saved = other_per_hour - owned.energy;
  if (!(saved > 0)) return std::nullopt;
  return purchase / (hours_per_month * saved);
}

double api_per_hour(const ApiPrice& api, double utilisation, const Scenario& scenario,
                    double requests_per_second) {
  const double request = (static_cast<double>(scenario.prompt_tokens) * api.input_per_million +
                          static_cast<double>(scenario.output_tokens) * api.output_per_million) /
                         1e6;
  return requests_per_second * utilisation * 3600 * request;
}

}  // namespace headroom::model
