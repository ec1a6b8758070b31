// Tests if the order of a portfolio's plans survives the uncertainty.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "model/infer/intervals.hpp"
#include "sweep/portfolio/ways.hpp"

namespace headroom::sweep {
namespace {

/// Hourly cost of `plan` with `ways` at `prices`; `never` if they do not serve a load.
double hourly_under(const Portfolio& p, const ServingTable& ways, const Prices& prices,
                    const FleetPlan& plan) {
  double sum = 0;
  for (const FleetPart& part : plan.parts) {
    const auto fleet =
        fleet_of(p, ways, {part.machine, part.acquisition, part.offload}, part.loads);
    if (!fleet) return never;
    sum += hourly_cost(prices, *p.machines[part.machine], part.acquisition)->total() *
           static_cast<double>(fleet->machines + p.spares);
  }
  return sum;
}

/// A split normal distribution whose 10 % and 90 % points are `low` and `high`, in logarithms.
double drawn(double z, double low, double high) {
  constexpr double at_90_percent = 1.2815515655446004;
  return std::exp(std::log(z < 0 ? low : high) * std::abs(z) / at_90_percent);
}

using Random = boost::random::mt19937_64;
using Normal = boost::random::normal_distribution<double>;

/// True if a plan that serves its loads runs this one so.
bool is_used(const std::vector<FleetPlan>& plans, std::size_t machine, bool offload,
             std::size_t load) {
  return std::ranges::any_of(plans, [&](const FleetPlan& plan) {
    return !plan.missed_load && std::ranges::any_of(plan.parts, [&](const FleetPart& part) {
      return part.machine == machine && part.offload >= offload &&
             std::ranges::find(part.loads, load) != part.loads.end();
    });
  });
}

/// The options that `plans` use, under errors of times and memory. All machines with the same cards
/// have the same errors.
ServingTable drawn_options(const Portfolio& p, const std::vector<FleetPlan>& plans, Random& random,
                           Normal& normal) {
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
  const auto wanted = [&](std::size_t m, bool offload, std::size_t l) {
    return is_used(plans, m, offload, l);
  };
  return ServingTable(p, wanted, [&](std::size_t m, std::size_t l) {
    const auto [times, memory] = errors.at(key(*p.machines[m], p.loads[l]));
    const auto f = interval_factors(*p.loads[l].request.runtime, *p.machines[m]);
    const model::Engine& r = *p.loads[l].request.runtime;
    const bool under_load = r.serving.continuous_batching && !p.machines[m]->devices.empty();
    const double low = under_load ? r.serving.serving_interval.low : f.tpot.low;
    const double high = under_load ? r.serving.serving_interval.high : f.tpot.high;
    return ServingTable::Error{drawn(times, low, high), drawn(memory, f.memory.low, f.memory.high)};
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

}  // namespace

void apply_draws(const Portfolio& p, std::vector<FleetPlan>& plans) {
  if (plans.empty()) return;
  std::vector<std::vector<double>> costs(static_cast<std::size_t>(p.draws));
  tbb::parallel_for(std::size_t{0}, costs.size(), [&](std::size_t draw) {
    Random random(p.seed * 0x9E3779B97F4A7C15u + draw);
    Normal normal;
    const ServingTable ways = drawn_options(p, plans, random, normal);
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
    // Two ranks may be the same fleet in a draw: it counts once.
    ++plans[static_cast<std::size_t>(std::ranges::find(draw, least) - draw.begin())].wins;
    for (std::size_t i = 0; i < plans.size(); ++i)
      if (draw[0] < draw[i]) ++plans[i].beaten;
  }
}

}  // namespace headroom::sweep
