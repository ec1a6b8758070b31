// Cost of a fleet's tokens, and its sensitivity.
#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "sweep/portfolio/portfolio.hpp"

namespace headroom::sweep {
namespace {

const model::Stay& stay_of(const FleetPlan& plan, std::size_t load) {
  for (const FleetPart& part : plan.parts)
    for (std::size_t i = 0; i < part.loads.size(); ++i)
      if (part.loads[i] == load) return part.fleet.stays[i];
  throw std::logic_error("a plan without one of its loads");
}

/// True if the price is of the load: it has the load's name or its model's.
bool is_of(const ApiPrice& api, const model::Load& load) {
  return api.model == load.name || api.model == load.request.weights->model->name;
}

/// Assumptions that are varied although they have no range.
struct Assumption {
  std::string_view name;
  std::string_view key;  ///< in the prices file, whose range counts where it has one
  std::optional<double> (*value)(const Prices&);
  void (*set)(Prices&, double);
  double least, most;
};

constexpr double any = 1e300;
const Assumption cost_assumptions[] = {
    {"purchase price, as a share", "", [](const Prices&) { return std::optional(1.0); },
     [](Prices& p, double share) {
       p.per_usd *= share;
       for (Price& each : p.prices) {
         if (each.buy) *each.buy *= share;
         if (each.used) *each.used *= share;
       }
     },
     0, any},
    {"rent, as a share", "", [](const Prices&) { return std::optional(1.0); },
     [](Prices& p, double share) {
       for (Price& each : p.prices)
         if (each.rent_per_hour) *each.rent_per_hour *= share;
     },
     0, any},
    {"electricity, a kWh", "electricity_per_kwh",
     [](const Prices& p) { return p.electricity_per_kwh; },
     [](Prices& p, double value) { p.electricity_per_kwh = value; }, 0, any},
    {"power usage effectiveness", "power_usage_effectiveness",
     [](const Prices& p) { return p.power_usage_effectiveness; },
     [](Prices& p, double value) { p.power_usage_effectiveness = value; }, 1, any},
    {"utilisation", "utilisation", [](const Prices& p) { return p.utilisation; },
     [](Prices& p, double value) { p.utilisation = value; }, 0, 1},
    {"amortisation, years", "amortisation_years",
     [](const Prices& p) { return p.amortisation_years; },
     [](Prices& p, double value) { p.amortisation_years = value; }, 0, any}};

}  // namespace

Demand demand_of(const Portfolio& p, const FleetPlan& plan) {
  Demand sum;
  for (std::size_t l = 0; l < p.loads.size(); ++l) {
    const double requests = stay_of(plan, l).at_load.requests_s;
    sum.requests_s += requests;
    sum.output_tokens_s += requests * static_cast<double>(p.loads[l].request.output_tokens);
  }
  return sum;
}

std::vector<LoadCost> load_costs(const Portfolio& p, const FleetPlan& plan) {
  std::vector<LoadCost> costs(p.loads.size());
  const double utilisation = model::utilisation_of(p.prices);
  for (const FleetPart& part : plan.parts) {
    Size taken = 0;
    for (const model::Stay& stay : part.fleet.stays) taken += stay.copies * stay.way.parts;
    for (std::size_t i = 0; i < part.loads.size(); ++i) {
      const model::Stay& stay = part.fleet.stays[i];
      const model::Load& load = p.loads[part.loads[i]];
      LoadCost& cost = costs[part.loads[i]];
      cost.requests_s = stay.at_load.requests_s;
      cost.per_hour = part.hour.total() * static_cast<double>(stay.copies * stay.way.parts) /
                      static_cast<double>(taken);
      const auto tokens =
          model::token_cost(cost.per_hour, utilisation, cost.requests_s, load.request);
      cost.input_per_million = tokens.input_per_million;
      cost.output_per_million = tokens.output_per_million;
    }
  }
  return costs;
}

LoadCost mean_cost(const Portfolio& p, const FleetPlan& plan) {
  LoadCost mean;
  double prompt = 0, output = 0;
  const auto costs = load_costs(p, plan);
  for (std::size_t l = 0; l < costs.size(); ++l) {
    const LoadCost& each = costs[l];
    const double in = each.requests_s * static_cast<double>(p.loads[l].request.prompt_tokens);
    const double out = each.requests_s * static_cast<double>(p.loads[l].request.output_tokens);
    mean.per_hour += each.per_hour;
    mean.requests_s += each.requests_s;
    mean.input_per_million += in * each.input_per_million;
    mean.output_per_million += out * each.output_per_million;
    prompt += in;
    output += out;
  }
  mean.input_per_million /= prompt;
  mean.output_per_million /= output;
  return mean;
}

double cost_per_million(const Portfolio& p, const FleetPlan& plan, const Prices& prices) {
  double hour = 0;
  for (const FleetPart& part : plan.parts)
    hour += static_cast<double>(part.machines) *
            hourly_cost(prices, *p.machines[part.machine], part.acquisition)->total();
  return hour / (3600 * model::utilisation_of(prices) * demand_of(p, plan).output_tokens_s) * 1e6;
}

double committed(const Portfolio& p, const FleetPart& part) {
  const bool rented = part.acquisition == model::Acquisition::rent;
  return part.purchase + (rented ? p.years * model::hours_per_year * part.hour.total() : 0);
}

double cost_over_years(const Portfolio& p, const FleetPlan& plan) {
  return plan.purchase() + p.years * model::hours_per_year * plan.running_per_hour();
}

std::vector<std::string> unused_apis(const Portfolio& p) {
  std::vector<std::string> all;
  for (const ApiPrice& api : p.prices.apis)
    if (std::ranges::none_of(p.loads, [&](const auto& load) { return is_of(api, load); }) &&
        std::ranges::find(all, api.model) == all.end())
      all.push_back(api.model);
  return all;
}

std::optional<double> api_per_hour(const Portfolio& p, const FleetPlan& plan) {
  double sum = 0;
  for (std::size_t l = 0; l < p.loads.size(); ++l) {
    const model::Load& load = p.loads[l];
    std::optional<double> least;
    for (const ApiPrice& api : p.prices.apis) {
      if (!is_of(api, load)) continue;
      const double hour = model::api_per_hour(api, model::utilisation_of(p.prices), load.request,
                                              stay_of(plan, l).at_load.requests_s);
      least = std::min(hour, least.value_or(hour));
    }
    if (!least) return std::nullopt;
    sum += *least;
  }
  return sum;
}

std::optional<double> break_even_with_api(const Portfolio& p, const FleetPlan& plan) {
  const auto api = api_per_hour(p, plan);
  if (!api || !(plan.purchase() > 0)) return std::nullopt;
  return model::break_even_months(plan.purchase(), {0, plan.running_per_hour()}, *api);
}

std::optional<double> break_even_with_rent(const Portfolio& p, const FleetPlan& plan) {
  double rent = 0;
  for (const FleetPart& part : plan.parts) {
    const auto one = rent_per_hour(p.prices, *p.machines[part.machine]);
    if (!one || part.acquisition == model::Acquisition::rent) return std::nullopt;
    rent += static_cast<double>(part.machines) * *one;
  }
  return model::break_even_months(plan.purchase(), {0, plan.running_per_hour()}, rent);
}

std::vector<Sensitivity> sensitivities(const Portfolio& p, const FleetPlan& plan) {
  std::vector<Sensitivity> all;
  const double expected = cost_per_million(p, plan, p.prices);
  const auto add = [&](std::string name, double low, double high, auto&& set) {
    const auto cost_at = [&](double value) {
      Prices prices = p.prices;
      set(prices, value);
      return cost_per_million(p, plan, prices);
    };
    Sensitivity s{std::move(name), low, high, cost_at(low), cost_at(high)};
    if (std::abs(s.at_low - expected) + std::abs(s.at_high - expected) > 1e-12 * expected)
      all.push_back(std::move(s));
  };
  for (const Assumption& each : cost_assumptions) {
    const auto value = each.value(p.prices);
    if (value && std::ranges::find(p.prices.uncertain, each.key, &Uncertain::name) ==
                     p.prices.uncertain.end())
      add(std::string(each.name), std::clamp(*value * (1 - p.change), each.least, each.most),
          std::clamp(*value * (1 + p.change), each.least, each.most), each.set);
  }
  for (const Uncertain& each : p.prices.uncertain) {
    const auto named = std::ranges::find(cost_assumptions, each.name, &Assumption::key);
    const double value = Prices(p.prices).figure(each);
    add(named == std::end(cost_assumptions) ? each.name : std::string(named->name),
        value * each.low, value * each.high,
        [&](Prices& prices, double v) { prices.figure(each) = v; });
  }
  std::ranges::stable_sort(all, std::greater{},
                           [](const Sensitivity& s) { return std::abs(s.at_high - s.at_low); });
  return all;
}

}  // namespace headroom::sweep
