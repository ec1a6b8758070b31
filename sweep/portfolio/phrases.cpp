#include "sweep/portfolio/phrases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "sweep/output.hpp"
#include "sweep/plan/plan.hpp"
#include "sweep/plan/speed_words.hpp"
#include "sweep/screen/demand_words.hpp"
#include "sweep/screen/interval_words.hpp"
#include "sweep/screen/money.hpp"

namespace headroom::sweep {
namespace {

/// "3 copies on 2 cards", "1 copy on 1/4 of a card".
std::string stay_words(const model::Stay& stay) {
  const Size parts = stay.way.parts, cards = parts / model::parts_of_a_card;
  std::string where = cards >= 1 ? counted(cards, "card")
                                 : fmt::format("1/{} of a card", model::parts_of_a_card / parts);
  if (const Size replicas = stay.way.serving.attention; replicas > 1)
    where += fmt::format(", each with {} replicas of the attention (--dp {} --ep {})", replicas,
                         replicas, cards);
  return counted(stay.running, "copy") + " of " + where;
}

/// Sequences of a copy at the load, and times with their intervals: of the slowest where requests
/// arrive at random, else of the mean request.
std::string speed_words(const model::Stay& stay) {
  const model::Service& seen = stay.at_load.service;
  const auto& slowest = stay.at_load.slowest;
  if (!slowest)
    return fmt::format("{} of at most {} each; first token {}, per token {}",
                       grouped(stay.at_load.requests), grouped(stay.way.serving.batch, "sequence"),
                       time_with_interval(seen.ttft, seen.first),
                       time_with_interval(seen.tpot, seen.step));
  return fmt::format("at most {} each, {:.0f} % busy; 95 of 100: first token {}, each further {}",
                     grouped(stay.way.serving.batch, "sequence"), 100 * slowest->load,
                     time_with_interval(slowest->ttft_p95, seen.first),
                     time_with_interval(slowest->tpot_p95, seen.step));
}

/// Price of the cheapest API, and whether the API or the fleet costs less over time.
std::string api_words(const Portfolio& p, const FleetPlan& plan, double per_hour) {
  const double over_years = p.years * model::hours_per_year * per_hour;
  std::string text = fmt::format(
      "the cheapest API of the prices file costs {} an hour for these tokens, {} over {:g} years",
      money(per_hour, p.prices.currency), money(over_years, p.prices.currency), p.years);
  if (over_years < cost_over_years(p, plan)) text += "; the API costs less";
  if (const auto months = break_even_with_api(p, plan))
    text += fmt::format("; buying pays off after {:.3g} months", *months);
  return text;
}

/// "chat: 38 rows of this card; reports: other cards": measured times behind each load.
std::string measured_loads(const Portfolio& p, const FleetPlan& plan) {
  std::string text;
  for (const FleetPart& part : plan.parts)
    for (const std::size_t l : part.loads) {
      const Machine& machine = *p.machines[part.machine];
      const model::Scenario& s = p.loads[l].request;
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", p.loads[l].name,
                          measured_words({*s.runtime, machine, *s.weights}));
    }
  return text;
}

/// The answer at the high ends of intervals where it is another than `plan`.
std::string strict_words(const Portfolio& p, const FleetPlan& plan) {
  const FleetPlan strict = strict_plan(p);
  if (!strict.qualifies()) return "at the high ends of all intervals nothing here qualifies";
  const std::string words = machines_words(p, strict);
  if (words == machines_words(p, plan)) return {};
  return fmt::format("at the high ends of all intervals the answer is {}, {} an hour", words,
                     money(strict.per_hour(), p.prices.currency));
}

/// The cost that is compared with the budget.
std::string budget_words(const Portfolio& p) {
  if (!p.budget) return {};
  return fmt::format(" (purchases, and the rent of {:g} years)", p.years);
}

Lines costs(const Portfolio& p, const FleetPlan& plan) {
  const std::string& currency = p.prices.currency;
  const LoadCost tokens = mean_cost(p, plan);
  Lines lines{{"Costs", fmt::format("{} an hour ({}); a million tokens: {:.4g} in, {:.4g} out "
                                    "({:.4g} out with all else included)",
                                    money(plan.per_hour(), currency), interval_words(plan),
                                    tokens.input_per_million, tokens.output_per_million,
                                    cost_per_million(p, plan, p.prices))}};
  const std::string bought =
      plan.purchase() > 0
          ? fmt::format("{} to buy, then {} an hour to run; ", money(plan.purchase(), currency),
                        money(plan.running_per_hour(), currency))
          : std::string();
  lines.emplace_back("", bought + fmt::format("{} over {:g} years",
                                              money(cost_over_years(p, plan), currency), p.years));
  if (const auto api = api_per_hour(p, plan)) lines.emplace_back("API", api_words(p, plan, *api));
  return lines;
}

}  // namespace

std::string machines_words(const Portfolio& p, const FleetPlan& plan) {
  std::string text;
  for (const FleetPart& part : plan.parts) {
    if (!text.empty()) text += " and ";
    if (part.machines > 0) text += fmt::format("{} of ", part.fleet.machines);
    text += p.machines[part.machine]->name;
  }
  return text;
}

std::string acquisition_words(const FleetPlan& plan) {
  std::string text;
  for (const FleetPart& part : plan.parts) {
    const std::string_view name = model::name_of(part.acquisition);
    if (text.find(name) != std::string::npos) continue;
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

std::string_view weights_words(const FleetPlan& plan) {
  for (const FleetPart& part : plan.parts)
    for (const model::Stay& stay : part.fleet.stays)
      if (stay.way.serving.estimate.verdict > model::Verdict::fits_gpus) return "offloaded";
  return plan.missed_load && plan.parts.front().offload ? "offloaded" : "on cards";
}

std::string where_words(const Portfolio& p, const FleetPlan& plan) {
  std::string text;
  for (const FleetPart& part : plan.parts)
    for (std::size_t i = 0; i < part.loads.size(); ++i)
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", p.loads[part.loads[i]].name,
                          stay_words(part.fleet.stays[i]));
  return text;
}

std::string missed_words(const Portfolio& p, const FleetPlan& plan) {
  if (plan.over_budget)
    return fmt::format("budget: pays for {:.0f} % of the load{}", 100 * plan.times_of_load,
                       budget_words(p));
  if (!plan.missed_load) return {};
  const std::string& load = p.loads[*plan.missed_load].name;
  return fmt::format("{}: {}", load, words_of(plan.missed));
}

std::string interval_words(const FleetPlan& plan) {
  const auto end = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.4g}", value) : std::string("not served");
  };
  return fmt::format("{} to {}", end(plan.per_hour_low), end(plan.per_hour_high));
}

Lines answer_lines(const Portfolio& p, std::span<const FleetPlan> plans) {
  const FleetPlan& best = plans.front();
  Lines lines{{"Answer", fmt::format("{} ({}; weights {})", machines_words(p, best),
                                     acquisition_words(best), weights_words(best))}};
  for (const FleetPart& part : best.parts)
    for (std::size_t i = 0; i < part.loads.size(); ++i) {
      const model::Stay& stay = part.fleet.stays[i];
      const model::Serving& copy = stay.way.serving;
      lines.emplace_back(
          i == 0 && &part == best.parts.data() ? "Runs" : "",
          fmt::format("{}: {}, {}{}", p.loads[part.loads[i]].name, stay_words(stay),
                      speed_words(stay),
                      copy.estimate.verdict > model::Verdict::fits_gpus ? " (offloaded)" : ""));
    }
  lines.emplace_back("Measured", measured_loads(p, best));
  if (auto strict = strict_words(p, best); !strict.empty())
    lines.emplace_back("Strict", std::move(strict));
  for (auto& line : costs(p, best)) lines.push_back(std::move(line));
  Size free = 0;
  for (const FleetPart& part : best.parts) free += part.fleet.free_parts;
  lines.emplace_back(
      "Room", fmt::format("{:g} cards{}", static_cast<double>(free) / model::parts_of_a_card,
                          free > 0 ? " more than the loads need; they run copies too" : " free"));
  if (p.budget || p.budget_per_hour)
    lines.emplace_back("Budget", fmt::format("pays for {}{:.4g} times the load{}",
                                             best.times_of_load < 100 ? "" : "at least ",
                                             best.times_of_load, budget_words(p)));
  if (plans.size() > 1 && plans[1].qualifies())
    lines.emplace_back(
        "Runner-up",
        fmt::format("{} ({}): {} an hour; the answer is cheaper in {} of {} draws",
                    machines_words(p, plans[1]), acquisition_words(plans[1]),
                    money(plans[1].per_hour(), p.prices.currency), plans[1].beaten, p.draws));
  lines.emplace_back(
      "Draws", fmt::format("the cheapest in {} of {} draws of times, memory and {} (seed {})",
                           best.wins, p.draws,
                           p.prices.uncertain.empty() ? "prices, which have no ranges in the file"
                                                      : "prices in their ranges",
                           p.seed));
  return lines;
}

std::string assumption_words(const Portfolio& p) {
  std::string text =
      fmt::format("every load at its peak simultaneously; electricity for {:.0f} % of the time",
                  100 * model::utilisation_of(p.prices));
  if (std::ranges::any_of(p.loads, [](const model::Load& l) { return l.target.at_random(); }))
    text += fmt::format("; requests arrive at random, and a copy is at most {:.0f} % busy",
                        100 * p.load_factor);
  for (const model::Load& load : p.loads)
    if (const auto speed = least_speed_words(load.target, "max_tpot"); !speed.empty()) {
      text += "; without a limit of its own on decoding, a load gets " + speed;
      break;
    }
  if (p.growth != 1) text += fmt::format("; loads {:.3g} times those in the file", p.growth);
  if (p.spares > 0) text += fmt::format("; of each kind {} to spare", p.spares);
  if (p.share_cards)
    text += "; models that share a card each have an equal part of its memory and speed";
  text +=
      "; a fleet may mix the listed machines and changes none: list other cards in one box as "
      "another machine";
  for (const auto& each : p.assumed) text += "; " + each;
  for (const auto& each : left_out(p)) text += "; left out " + each;
  return text;
}

}  // namespace headroom::sweep
