// Which machines for several models: every kind of machine alone, and the cheapest mixture, for the
// same loads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/price.hpp"
#include "model/answer/cost.hpp"
#include "model/answer/fleet.hpp"
#include "sweep/factors.hpp"
#include "sweep/hub/hub.hpp"

namespace headroom::sweep {

/// A purchase.toml with its names resolved. Owns what its loads point to.
struct Portfolio {
  std::string file, name, text;
  std::vector<std::unique_ptr<model::Model>> models;
  std::vector<std::unique_ptr<model::QuantisedModel>> weights;
  std::vector<std::unique_ptr<Machine>> machines;
  std::vector<model::Acquisition> acquisitions;
  std::vector<model::Load> loads;  ///< at most 12
  Prices prices;
  bool offload = true, share_cards = true;
  std::optional<double> budget;           ///< money for purchases and for the rent of `years`
  std::optional<double> budget_per_hour;  ///< money for an hour, everything included
  double years = 3;                       ///< period of the total cost
  Size draws = 200;
  std::uint64_t seed = 1;
  double change = 0.2;  ///< the share by which the sensitivity moves each assumption
  double load_factor = model::usual_load_factor;
  double growth = 1;                 ///< multiple of the loads in the file that `loads` have
  Size spares = 0;                   ///< machines of each kind more than the loads take
  std::vector<std::string> assumed;  ///< assumptions about the engines
};
/// Runtimes are rows of `engines`, which outlives the portfolio. Throws SpecError naming file, key,
/// what was found and what is allowed; UnknownName and what the models' sources throw.
Portfolio read_portfolio(const std::filesystem::path& file, const Hub& hub, const Engines& engines);

/// One kind of machine for some of the loads.
struct FleetPart {
  std::size_t machine = 0;  ///< index
  model::Acquisition acquisition = model::Acquisition::buy;
  bool offload = false;            ///< weights outside the cards are allowed
  std::vector<std::size_t> loads;  ///< indices; stays[i] of the fleet is of loads[i]
  model::Fleet fleet;              ///< without spares
  Size machines = 0;               ///< with spares
  double purchase = 0;             ///< total of all machines
  model::HourlyCost hour;          ///< total of all machines
  double watts = 0;                ///< total of all machines; 0: not known
};
/// An answer: parts that together serve every load.
struct FleetPlan {
  std::vector<FleetPart> parts;
  std::optional<std::size_t> missed_load;  ///< not served: the load that no way serves
  model::Shortfall missed;                 ///< shortfall of the plan
  double times_of_load = 0;                ///< multiple of the load that the budget pays for
  bool over_budget = false;
  Size wins = 0;    ///< draws in which it is the cheapest; of equals the first in rank counts
  Size beaten = 0;  ///< draws in which the first plan is cheaper than this one
  double per_hour_low = 0, per_hour_high = 0;  ///< 80 % of the draws; infinite: does not serve

  bool qualifies() const { return !missed_load && !over_budget; }
  Size machines() const;
  double purchase() const, per_hour() const;
  double running_per_hour() const;  ///< electricity of what is bought, rent of the rest
};

/// Output tokens a second that the loads ask for, with what `plan` makes of a number of users; and
/// requests.
struct Demand {
  double requests_s = 0, output_tokens_s = 0;
};
Demand demand_of(const Portfolio& portfolio, const FleetPlan& plan);

/// Cost of one load. Its share of the used cards is its share of the cost. Prompts and output share
/// that cost by their part of a copy's time (model/answer/cost.hpp).
struct LoadCost {
  double per_hour = 0;
  double input_per_million = 0, output_per_million = 0;
  double requests_s = 0;
};
/// By load.
std::vector<LoadCost> load_costs(const Portfolio& portfolio, const FleetPlan& plan);
/// Cost over all loads: the cost of prompts divided by all prompt tokens, and likewise for output.
LoadCost mean_cost(const Portfolio& portfolio, const FleetPlan& plan);

/// Cost of a million output tokens of `plan` at `prices`, with everything included.
double cost_per_million(const Portfolio& portfolio, const FleetPlan& plan, const Prices& prices);
/// Cost that is compared with the budget: the purchase and the rent over the portfolio's years.
double committed(const Portfolio& portfolio, const FleetPart& part);
/// Money over the portfolio's years: purchase and energy, or rent.
double cost_over_years(const Portfolio& portfolio, const FleetPlan& plan);
/// Models of the file's API prices that no load names, each once.
std::vector<std::string> unused_apis(const Portfolio& portfolio);
/// Hourly price of the cheapest providers for these tokens; empty if a model has no price.
std::optional<double> api_per_hour(const Portfolio& portfolio, const FleetPlan& plan);

/// Months after which the purchase has cost less than the API, or than renting these machines.
/// Empty if nothing is bought, a price is missing, or it never does.
std::optional<double> break_even_with_api(const Portfolio& portfolio, const FleetPlan& plan);
std::optional<double> break_even_with_rent(const Portfolio& portfolio, const FleetPlan& plan);

/// Plans with one kind of machine, for each acquisition, on cards and with offload if that differs.
/// One more plan is the cheapest division of the loads among machines, exact over all divisions.
/// The cheapest per hour come first, plans that do not qualify last. Wins, beats and intervals come
/// from seeded draws. Draws vary times and memory within their intervals, with one error for all
/// machines with equal cards. They also vary every price with a range.
std::vector<FleetPlan> plan_portfolio(const Portfolio& portfolio);

/// The first plan if the limits of every load hold at the high ends of intervals; without draws and
/// times at the load.
FleetPlan strict_plan(const Portfolio& portfolio);

/// A line for each machine that no plan stands for, with the facts that its cost lacks.
std::vector<std::string> left_out(const Portfolio& portfolio);

/// How the cost of a million tokens moves with one assumption: over its range in the prices file,
/// else by the portfolio's `change`.
struct Sensitivity {
  std::string assumption;          ///< "electricity"
  double low = 0, high = 0;        ///< the assumption's values
  double at_low = 0, at_high = 0;  ///< cost for a million output tokens
};
/// The widest first. Assumptions without effect on the plan are omitted.
std::vector<Sensitivity> sensitivities(const Portfolio& portfolio, const FleetPlan& plan);

}  // namespace headroom::sweep
