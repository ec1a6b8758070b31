// What a fleet's tokens cost, and what that depends on.
#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "sweep/portfolio.hpp"

namespace headroom::sweep {
namespace {

const model::Way& way_of(const FleetPlan& plan, std::size_t load) {
  for (const FleetPart& part : plan.parts)
    for (std::size_t i = 0; i < part.loads.size(); ++i)
      if (part.loads[i] == load) return part.fleet.stays[i].way;
  throw std::logic_error("a plan without one of its loads");
}

/// Requests a second of one load: as asked, or as its users make them, each waiting for an answer
/// before the next.
double requests_of(const model::Load& load, const model::Way& way) {
  const auto output = static_cast<double>(load.request.output_tokens);
  const double by_users = static_cast<double>(load.target.users) * way.requests_s /
                          static_cast<double>(way.serving.batch);
  return std::max({load.target.requests_s, load.target.output_tokens_s / output, by_users});
}

struct Assumption {
  std::string_view name;
  std::optional<double> (*value)(const Prices&);
  void (*set)(Prices&, double);
  double least, most;
};

constexpr double any = 1e300;
const Assumption assumptions[] = {
    {"purchase price, as a share", [](const Prices&) { return std::optional(1.0); },
     [](Prices& p, double share) {
       p.per_usd *= share;
       for (Price& each : p.prices) {
         if (each.buy) *each.buy *= share;
         if (each.used) *each.used *= share;
       }
     },
     0, any},
    {"rent, as a share", [](const Prices&) { return std::optional(1.0); },
     [](Prices& p, double share) {
       for (Price& each : p.prices)
         if (each.rent_per_hour) *each.rent_per_hour *= share;
     },
     0, any},
    {"electricity, a kWh", [](const Prices& p) { return p.electricity_per_kwh; },
     [](Prices& p, double value) { p.electricity_per_kwh = value; }, 0, any},
    {"power usage effectiveness", [](const Prices& p) { return p.power_usage_effectiveness; },
     [](Prices& p, double value) { p.power_usage_effectiveness = value; }, 1, any},
    {"utilisation", [](const Prices& p) { return p.utilisation; },
     [](Prices& p, double value) { p.utilisation = value; }, 0, 1},
    {"amortisation, years", [](const Prices& p) { return p.amortisation_years; },
     [](Prices& p, double value) { p.amortisation_years = value; }, 0, any}};

}  // namespace

Demand demand_of(const Portfolio& p, const FleetPlan& plan) {
  Demand sum;
  for (std::size_t l = 0; l < p.loads.size(); ++l) {
    const double requests = requests_of(p.loads[l], way_of(plan, l));
    sum.requests_s += requests;
    sum.output_tokens_s += requests * static_cast<double>(p.loads[l].request.output_tokens);
  }
  return sum;
}

double cost_per_million(const Portfolio& p, const FleetPlan& plan, const Prices& prices) {
  double hour = 0;
  for (const FleetPart& part : plan.parts)
    hour += static_cast<double>(part.fleet.machines) *
            hourly_cost(prices, *p.machines[part.machine], part.acquisition)->total();
  return hour / (3600 * model::utilisation_of(prices) * demand_of(p, plan).output_tokens_s) * 1e6;
}

double cost_over_years(const Portfolio& p, const FleetPlan& plan) {
  return plan.purchase() + p.years * model::hours_per_year * plan.running_per_hour();
}

std::optional<double> api_per_hour(const Portfolio& p, const FleetPlan& plan) {
  double sum = 0;
  for (std::size_t l = 0; l < p.loads.size(); ++l) {
    const model::Load& load = p.loads[l];
    std::optional<double> least;
    for (const ApiPrice& api : p.prices.apis) {
      if (api.model != load.name && api.model != load.request.weights->model->name) continue;
      const double hour = model::api_per_hour(api, model::utilisation_of(p.prices), load.request,
                                              requests_of(load, way_of(plan, l)));
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
    rent += static_cast<double>(part.fleet.machines) * *one;
  }
  return model::break_even_months(plan.purchase(), {0, plan.running_per_hour()}, rent);
}

std::vector<Sensitivity> sensitivities(const Portfolio& p, const FleetPlan& plan) {
  std::vector<Sensitivity> all;
  const double expected = cost_per_million(p, plan, p.prices);
  for (const Assumption& each : assumptions) {
    const auto value = each.value(p.prices);
    if (!value) continue;
    const auto cost_at = [&](double changed) {
      Prices prices = p.prices;
      each.set(prices, changed);
      return cost_per_million(p, plan, prices);
    };
    Sensitivity s{std::string(each.name),
                  std::clamp(*value * (1 - p.change), each.least, each.most),
                  std::clamp(*value * (1 + p.change), each.least, each.most)};
    s.at_low = cost_at(s.low);
    s.at_high = cost_at(s.high);
    if (std::abs(s.at_low - expected) + std::abs(s.at_high - expected) > 1e-12 * expected)
      all.push_back(std::move(s));
  }
  std::ranges::stable_sort(all, std::greater{},
                           [](const Sensitivity& s) { return std::abs(s.at_high - s.at_low); });
  return all;
}

}  // namespace headroom::sweep
