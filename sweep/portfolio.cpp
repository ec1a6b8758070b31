#include "sweep/portfolio.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace headroom::sweep {
namespace {

using model::Acquisition;

constexpr double never = std::numeric_limits<double>::infinity();

/// Ways of every load on every machine, with and without offload, under one draw of the errors.
class AllWays {
 public:
  /// Factors on times and memory by machine and load.
  struct Error {
    double times = 1, memory = 1;
  };
  template <class ErrorOf>
  AllWays(const Portfolio& p, ErrorOf&& error_of) : loads_(p.loads.size()) {
    for (std::size_t m = 0; m < p.machines.size(); ++m)
      for (const bool offload : {false, true})
        for (std::size_t l = 0; l < loads_; ++l) {
          if (offload && !p.offload) {
            all_.emplace_back();
            continue;
          }
          model::Load load = p.loads[l];
          load.target.offload = offload;
          const Error error = error_of(m, l);
          all_.push_back(
              ways_to_serve(*p.machines[m], load, p.share_cards, error.times, error.memory));
        }
  }
  const model::Ways& of(std::size_t machine, bool offload, std::size_t load) const {
    return all_[(2 * machine + (offload ? 1 : 0)) * loads_ + load];
  }

 private:
  std::size_t loads_;
  std::vector<model::Ways> all_;
};

struct Choice {
  std::size_t machine;
  Acquisition acquisition;
  bool offload;
};

/// The fleet of `choice` for `loads`; nothing where some load has no way.
std::optional<model::Fleet> fleet_of(const Portfolio& p, const AllWays& ways, const Choice& choice,
                                     const std::vector<std::size_t>& loads, double scale = 1) {
  std::vector<std::vector<model::Way>> each;
  for (const std::size_t load : loads) {
    each.push_back(ways.of(choice.machine, choice.offload, load).all);
    if (each.back().empty()) return std::nullopt;
  }
  return smallest_fleet(static_cast<Size>(p.machines[choice.machine]->devices.size()), each, scale);
}

FleetPart part_of(const Portfolio& p, const Choice& choice, std::vector<std::size_t> loads,
                  model::Fleet fleet) {
  const Machine& machine = *p.machines[choice.machine];
  FleetPart part;
  part.machine = choice.machine;
  part.acquisition = choice.acquisition;
  part.offload = choice.offload;
  part.loads = std::move(loads);
  part.fleet = std::move(fleet);
  const auto n = static_cast<double>(part.fleet.machines);
  const auto hour = hourly_cost(p.prices, machine, choice.acquisition);
  part.hour = {n * hour->capital, n * hour->energy};
  part.purchase = n * purchase(p.prices, machine, choice.acquisition).value_or(0);
  part.watts = n * model::power_w(machine).value_or(0);
  return part;
}

std::vector<std::size_t> members(std::size_t set) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; set >> i != 0; ++i)
    if (set >> i & 1) all.push_back(i);
  return all;
}

FleetPlan alone(const Portfolio& p, const AllWays& ways, const Choice& choice) {
  FleetPlan plan;
  const auto all = members((std::size_t{1} << p.loads.size()) - 1);
  if (auto fleet = fleet_of(p, ways, choice, all)) {
    plan.parts.push_back(part_of(p, choice, all, std::move(*fleet)));
    return plan;
  }
  FleetPart& part = plan.parts.emplace_back();
  part.machine = choice.machine;
  part.acquisition = choice.acquisition;
  part.offload = choice.offload;
  for (std::size_t l = 0; l < p.loads.size(); ++l) {
    const model::Ways& each = ways.of(choice.machine, choice.offload, l);
    if (!each.all.empty() || (plan.missed_load && each.missed.times <= plan.missed.times)) continue;
    plan.missed_load = l;
    plan.missed = each.missed;
  }
  return plan;
}

/// The cheapest division of the loads into groups, each on the kind of machine that is cheapest for
/// it: over all divisions, group by group from the one that holds the first load.
std::optional<FleetPlan> divided(const Portfolio& p, const AllWays& ways,
                                 const std::vector<Choice>& choices) {
  const std::size_t sets = std::size_t{1} << p.loads.size();
  std::vector<std::optional<FleetPart>> cheapest(sets);
  tbb::parallel_for(std::size_t{1}, sets, [&](std::size_t set) {
    for (const Choice& choice : choices) {
      auto fleet = fleet_of(p, ways, choice, members(set));
      if (!fleet) continue;
      FleetPart part = part_of(p, choice, members(set), std::move(*fleet));
      if (!cheapest[set] || part.hour.total() < cheapest[set]->hour.total())
        cheapest[set] = std::move(part);
    }
  });
  std::vector<double> cost(sets, never);
  std::vector<std::size_t> first(sets, 0);
  cost[0] = 0;
  for (std::size_t set = 1; set < sets; ++set)
    for (std::size_t group = set; group != 0; group = (group - 1) & set) {
      if ((group & (set & -set)) == 0 || !cheapest[group]) continue;
      const double total = cheapest[group]->hour.total() + cost[set & ~group];
      if (total < cost[set]) {
        cost[set] = total;
        first[set] = group;
      }
    }
  if (cost[sets - 1] == never) return std::nullopt;
  FleetPlan plan;
  for (std::size_t set = sets - 1; set != 0; set &= ~first[set])
    plan.parts.push_back(*cheapest[first[set]]);
  return plan;
}

/// What `plan` costs an hour with `ways` at `prices`; `never` where they do not serve a load.
double hourly_under(const Portfolio& p, const AllWays& ways, const Prices& prices,
                    const FleetPlan& plan) {
  double sum = 0;
  for (const FleetPart& part : plan.parts) {
    const auto fleet =
        fleet_of(p, ways, {part.machine, part.acquisition, part.offload}, part.loads);
    if (!fleet) return never;
    sum += hourly_cost(prices, *p.machines[part.machine], part.acquisition)->total() *
           static_cast<double>(fleet->machines);
  }
  return sum;
}

bool affordable(const Portfolio& p, const AllWays& ways, const FleetPlan& plan, double scale) {
  double money = 0, hour = 0;
  for (const FleetPart& part : plan.parts) {
    const auto fleet =
        fleet_of(p, ways, {part.machine, part.acquisition, part.offload}, part.loads, scale);
    const double share =
        static_cast<double>(fleet->machines) / static_cast<double>(part.fleet.machines);
    money += share * part.purchase;
    hour += share * part.hour.total();
  }
  return (!p.budget || money <= *p.budget) && (!p.budget_per_hour || hour <= *p.budget_per_hour);
}

/// How many times the load the budget pays for, in steps of a hundredth.
void apply_budget(const Portfolio& p, const AllWays& ways, FleetPlan& plan) {
  if (plan.missed_load || (!p.budget && !p.budget_per_hour)) return;
  const Size hundredths = model::largest(
      10000, [&](Size each) { return affordable(p, ways, plan, static_cast<double>(each) / 100); });
  plan.times_of_load = static_cast<double>(hundredths) / 100;
  plan.over_budget = hundredths < 100;
}

/// A split normal distribution whose 10 % and 90 % points are `low` and `high`, in logarithms.
double drawn(double z, double low, double high) {
  constexpr double at_90_percent = 1.2815515655446004;
  return std::exp(std::log(z < 0 ? low : high) * std::abs(z) / at_90_percent);
}

using Random = boost::random::mt19937_64;
using Normal = boost::random::normal_distribution<double>;

/// Errors of times and memory, the same for all machines with the same cards.
AllWays drawn_ways(const Portfolio& p, Random& random, Normal& normal) {
  const auto key = [](const Machine& machine, const model::Load& load) {
    return (machine.devices.empty() ? machine.host.name : machine.devices.front().name) + '\n' +
           std::string(load.request.runtime->name);
  };
  std::map<std::string, std::pair<double, double>> errors;
  for (const auto& machine : p.machines)
    for (const auto& load : p.loads) {
      if (errors.contains(key(*machine, load))) continue;
      const double times = normal(random);
      errors[key(*machine, load)] = {times, normal(random)};
    }
  return AllWays(p, [&](std::size_t m, std::size_t l) {
    const auto [times, memory] = errors.at(key(*p.machines[m], p.loads[l]));
    const auto f = interval_factors(*p.loads[l].request.runtime);
    return AllWays::Error{drawn(times, f.time_low, f.time_high),
                          drawn(memory, f.memory_low, f.memory_high)};
  });
}

Prices drawn_prices(const Prices& expected, Random& random, Normal& normal) {
  Prices prices = expected;
  for (const Uncertain& each : expected.uncertain)
    prices.figure(each) *= drawn(normal(random), each.low, each.high);
  if (auto& share = prices.utilisation) share = std::min(*share, 1.0);
  if (auto& pue = prices.power_usage_effectiveness) pue = std::max(*pue, 1.0);
  return prices;
}

/// The 10 % and 90 % points, by rank: a draw that does not serve is infinitely dear, and nothing
/// lies between it and the others.
std::pair<double, double> eight_of_ten(std::vector<double> costs) {
  std::ranges::sort(costs);
  const std::size_t tail = costs.size() / 10;
  return {costs[tail], costs[costs.size() - 1 - tail]};
}

void draw_errors(const Portfolio& p, std::vector<FleetPlan>& plans) {
  if (plans.empty()) return;
  std::vector<std::vector<double>> costs(static_cast<std::size_t>(p.draws));
  tbb::parallel_for(std::size_t{0}, costs.size(), [&](std::size_t draw) {
    Random random(p.seed * 0x9E3779B97F4A7C15u + draw);
    Normal normal;
    const AllWays ways = drawn_ways(p, random, normal);
    const Prices prices = drawn_prices(p.prices, random, normal);
    for (const FleetPlan& plan : plans)
      costs[draw].push_back(plan.missed_load ? never : hourly_under(p, ways, prices, plan));
  });
  for (std::size_t i = 0; i < plans.size(); ++i) {
    std::vector<double> of_plan;
    for (const auto& draw : costs) of_plan.push_back(draw[i]);
    std::tie(plans[i].per_hour_low, plans[i].per_hour_high) = eight_of_ten(std::move(of_plan));
  }
  for (auto& draw : costs) {
    for (std::size_t i = 0; i < plans.size(); ++i)
      if (!plans[i].qualifies()) draw[i] = never;
    const double least = std::ranges::min(draw);
    if (least == never) continue;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (draw[i] == least) ++plans[i].wins;
      if (draw[0] < draw[i]) ++plans[i].beaten;
    }
  }
}

bool same_fleets(const FleetPlan& a, const FleetPlan& b) {
  return a.missed_load.has_value() == b.missed_load.has_value() && a.machines() == b.machines();
}

}  // namespace

Size FleetPlan::machines() const {
  Size sum = 0;
  for (const FleetPart& part : parts) sum += part.fleet.machines;
  return sum;
}
double FleetPlan::purchase() const {
  double sum = 0;
  for (const FleetPart& part : parts) sum += part.purchase;
  return sum;
}
double FleetPlan::per_hour() const {
  double sum = 0;
  for (const FleetPart& part : parts) sum += part.hour.total();
  return sum;
}
double FleetPlan::running_per_hour() const {
  double sum = 0;
  for (const FleetPart& part : parts)
    sum += part.acquisition == Acquisition::rent ? part.hour.total() : part.hour.energy;
  return sum;
}

std::vector<FleetPlan> plan_portfolio(const Portfolio& p) {
  const AllWays ways(p, [](std::size_t, std::size_t) { return AllWays::Error{}; });
  std::vector<Choice> choices;
  std::vector<FleetPlan> plans;
  for (std::size_t m = 0; m < p.machines.size(); ++m)
    for (const Acquisition way : p.acquisitions) {
      if (!hourly_cost(p.prices, *p.machines[m], way)) continue;
      choices.push_back({m, way, false});
      plans.push_back(alone(p, ways, choices.back()));
      if (!p.offload) continue;
      choices.push_back({m, way, true});
      FleetPlan offloaded = alone(p, ways, choices.back());
      if (!same_fleets(offloaded, plans.back())) plans.push_back(std::move(offloaded));
    }
  if (auto mixed = divided(p, ways, choices); mixed && mixed->parts.size() > 1)
    plans.push_back(std::move(*mixed));
  for (FleetPlan& plan : plans) apply_budget(p, ways, plan);
  std::ranges::stable_sort(plans, [](const FleetPlan& a, const FleetPlan& b) {
    if (a.qualifies() != b.qualifies()) return a.qualifies();
    if (a.missed_load.has_value() != b.missed_load.has_value()) return !a.missed_load;
    if (a.qualifies()) return a.per_hour() < b.per_hour();
    return a.missed_load ? a.missed.times < b.missed.times : a.times_of_load > b.times_of_load;
  });
  draw_errors(p, plans);
  return plans;
}

}  // namespace headroom::sweep
