#include "sweep/portfolio/portfolio.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <limits>

#include "sweep/portfolio/ways.hpp"
#include "sweep/screen/demand_words.hpp"

namespace headroom::sweep {
namespace {

using model::Acquisition;

FleetPart part_of(const Portfolio& p, const FleetChoice& choice, std::vector<std::size_t> loads,
                  model::Fleet fleet) {
  const Machine& machine = *p.machines[choice.machine];
  FleetPart part;
  part.machine = choice.machine;
  part.acquisition = choice.acquisition;
  part.offload = choice.offload;
  part.loads = std::move(loads);
  part.fleet = std::move(fleet);
  part.machines = part.fleet.machines + p.spares;
  const auto n = static_cast<double>(part.machines);
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

FleetPlan alone(const Portfolio& p, const ServingTable& ways, const FleetChoice& choice) {
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
    const model::ServingOptions& each = ways.of(choice.machine, choice.offload, l);
    if (!each.all.empty() || (plan.missed_load && each.missed.times <= plan.missed.times)) continue;
    plan.missed_load = l;
    plan.missed = each.missed;
  }
  return plan;
}

/// The cheapest division of the loads into groups, each on the kind of machine that is cheapest for
/// it. The search covers all divisions, starting from the group with the first load.
std::optional<FleetPlan> divided(const Portfolio& p, const ServingTable& ways,
                                 const std::vector<FleetChoice>& choices) {
  const std::size_t sets = std::size_t{1} << p.loads.size();
  std::vector<std::optional<FleetPart>> cheapest(sets);
  tbb::parallel_for(std::size_t{1}, sets, [&](std::size_t set) {
    for (const FleetChoice& choice : choices) {
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

bool affordable(const Portfolio& p, const ServingTable& ways, const FleetPlan& plan, double scale) {
  double money = 0, hour = 0;
  for (const FleetPart& part : plan.parts) {
    const auto fleet =
        fleet_of(p, ways, {part.machine, part.acquisition, part.offload}, part.loads, scale);
    const double share =
        static_cast<double>(fleet->machines + p.spares) / static_cast<double>(part.machines);
    money += share * committed(p, part);
    hour += share * part.hour.total();
  }
  return (!p.budget || money <= *p.budget) && (!p.budget_per_hour || hour <= *p.budget_per_hour);
}

/// The multiple of the load that the budget pays for, in steps of a hundredth.
void apply_budget(const Portfolio& p, const ServingTable& ways, FleetPlan& plan) {
  if (plan.missed_load || (!p.budget && !p.budget_per_hour)) return;
  const Size hundredths = model::largest(
      10000, [&](Size each) { return affordable(p, ways, plan, static_cast<double>(each) / 100); });
  plan.times_of_load = static_cast<double>(hundredths) / 100;
  plan.over_budget = hundredths < 100;
}

/// Runs copies on all cards that are paid for.
void use_all_cards(const Portfolio& p, const ServingTable& ways, FleetPlan& plan) {
  for (FleetPart& part : plan.parts) {
    std::vector<const model::Load*> loads;
    for (const std::size_t load : part.loads) loads.push_back(&p.loads[load]);
    const auto cards = static_cast<Size>(p.machines[part.machine]->devices.size());
    use_free_parts(part.fleet, cards, loads);
    if (loads.size() > 1) continue;
    // Another division of as many machines may end the requests of one load sooner.
    const model::ServingOptions& options = ways.of(part.machine, part.offload, part.loads.front());
    std::vector<model::ServingOption> divisions = options.all;
    divisions.insert(divisions.end(), options.beaten.begin(), options.beaten.end());
    for (const auto& way : divisions) {
      const std::vector<model::ServingOption> one{way};
      model::Fleet other = model::smallest_fleet(cards, {&one, 1});
      if (other.machines > part.fleet.machines) continue;
      use_free_parts(other, cards, loads);
      if (other.stays.front().at_load.service.total <
          part.fleet.stays.front().at_load.service.total)
        part.fleet = std::move(other);
    }
  }
}

bool same_fleets(const FleetPlan& a, const FleetPlan& b) {
  return a.missed_load.has_value() == b.missed_load.has_value() && a.machines() == b.machines();
}

}  // namespace

std::optional<model::Fleet> fleet_of(const Portfolio& p, const ServingTable& ways,
                                     const FleetChoice& choice,
                                     const std::vector<std::size_t>& loads, double scale) {
  std::vector<std::vector<model::ServingOption>> each;
  for (const std::size_t load : loads) {
    each.push_back(ways.of(choice.machine, choice.offload, load).all);
    if (each.back().empty()) return std::nullopt;
  }
  return smallest_fleet(static_cast<Size>(p.machines[choice.machine]->devices.size()), each, scale);
}

Size FleetPlan::machines() const {
  Size sum = 0;
  for (const FleetPart& part : parts) sum += part.machines;
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

std::vector<std::string> left_out(const Portfolio& p) {
  std::vector<std::string> lines;
  for (const auto& machine : p.machines)
    if (auto line = missing_words(p.prices, *machine, p.acquisitions); !line.empty())
      lines.push_back(std::move(line));
  return lines;
}

namespace {

ServingTable usual_ways(const Portfolio& p, bool strict) {
  return ServingTable(
      p, [&](std::size_t, bool offload, std::size_t) { return p.offload || !offload; },
      [](std::size_t, std::size_t) { return ServingTable::Error{}; }, strict);
}

/// All plans in their order, without draws.
std::vector<FleetPlan> ranked_plans(const Portfolio& p, const ServingTable& ways) {
  std::vector<FleetChoice> choices;
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
  return plans;
}

}  // namespace

std::vector<FleetPlan> plan_portfolio(const Portfolio& p) {
  const ServingTable ways = usual_ways(p, false);
  std::vector<FleetPlan> plans = ranked_plans(p, ways);
  for (FleetPlan& plan : plans)
    if (!plan.missed_load) use_all_cards(p, ways, plan);
  apply_draws(p, plans);
  return plans;
}

FleetPlan strict_plan(const Portfolio& p) { return ranked_plans(p, usual_ways(p, true)).front(); }

}  // namespace headroom::sweep
