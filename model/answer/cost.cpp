#include "model/answer/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

namespace {

/// A card's figure is of the host too, which then adds nothing.
bool includes_host(const Machine& machine) {
  return std::ranges::any_of(machine.devices, &Device::power_includes_host);
}

/// Rows of the machine without a power figure, each once.
std::vector<MissingCost> unknown_power(const Machine& machine) {
  std::vector<MissingCost> missing;
  const auto look = [&](const auto& row) {
    const bool named =
        std::ranges::any_of(missing, [&](const MissingCost& each) { return each.of == row.name; });
    if (!(row.power_w > 0) && !named)
      missing.push_back({MissingCost::Fact::power, row.name, row.power_unknown});
  };
  for (const Device& card : machine.devices) look(card);
  if (!includes_host(machine)) look(machine.host);
  return missing;
}

}  // namespace

std::optional<double> power_w(const Machine& machine, Acquisition acquisition) {
  const auto all = power_w(machine);
  if (!all || acquisition != Acquisition::rent || includes_host(machine) || machine.host.cards == 0)
    return all;
  const double in_boxes = static_cast<double>(machine.host.cards) * machine.host.boxes;
  const double share = std::min(1.0, static_cast<double>(machine.devices.size()) / in_boxes);
  return *all - (1 - share) * machine.host.power_w;
}

std::optional<double> power_w(const Machine& machine) {
  double watts = 0;
  if (!includes_host(machine)) {
    if (!(machine.host.power_w > 0)) return std::nullopt;
    watts = machine.host.power_w;
  }
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

std::vector<MissingCost> missing_costs(const Prices& prices, const Machine& machine,
                                       Acquisition acquisition) {
  using enum MissingCost::Fact;
  if (acquisition == Acquisition::rent) {
    if (rent_per_hour(prices, machine)) return {};
    return {{price, machine.name, "rent_per_hour"}};
  }
  std::vector<MissingCost> missing;
  if (!purchase(prices, machine, acquisition))
    missing.push_back({price, machine.name, std::string(name_of(acquisition))});
  if (!prices.electricity_per_kwh) missing.push_back({electricity, {}, {}});
  if (!prices.amortisation_years) missing.push_back({years, {}, {}});
  std::ranges::move(unknown_power(machine), std::back_inserter(missing));
  return missing;
}

std::string to_text(const MissingCost& missing) {
  switch (missing.fact) {
    case MissingCost::Fact::price:
      return fmt::format("no price of {} ({})", missing.of, missing.reason);
    case MissingCost::Fact::electricity:
      return "no electricity_per_kwh";
    case MissingCost::Fact::years:
      return "no amortisation_years";
    case MissingCost::Fact::power:
      break;
  }
  return fmt::format("no power_w of {}{}{}", missing.of, missing.reason.empty() ? "" : ": ",
                     missing.reason);
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
