// A portfolio's answer in tables and words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/curve.hpp"
#include "report/markdown.hpp"
#include "sweep/money.hpp"
#include "sweep/output.hpp"
#include "sweep/portfolio_report.hpp"

namespace headroom::sweep {
namespace {

using report::Value;

std::string machines_words(const Portfolio& p, const FleetPlan& plan) {
  std::string text;
  for (const FleetPart& part : plan.parts) {
    if (!text.empty()) text += " and ";
    if (part.fleet.machines > 0) text += fmt::format("{} of ", part.fleet.machines);
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

/// "3 copies on 2 cards", "1 copy on 1/4 of a card".
std::string stay_words(const model::Stay& stay) {
  const Size parts = stay.way.parts, cards = parts / model::parts_of_a_card;
  std::string where = cards >= 1 ? fmt::format("{} {}", cards, cards == 1 ? "card" : "cards")
                                 : fmt::format("1/{} of a card", model::parts_of_a_card / parts);
  return fmt::format("{} {} of {}", stay.copies, stay.copies == 1 ? "copy" : "copies", where);
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
    return fmt::format("budget: pays for {:.0f} % of the load", 100 * plan.times_of_load);
  if (!plan.missed_load) return {};
  const std::string& load = p.loads[*plan.missed_load].name;
  if (plan.missed.miss == model::Miss::refused) return fmt::format("{}: the runtime refuses", load);
  return fmt::format("{}: {} {:.3g} times what is allowed", load, model::name_of(plan.missed.miss),
                     plan.missed.times);
}

Value optional(const std::optional<double>& value) { return value ? Value(*value) : Value(); }

bool has_watts(const FleetPlan& plan) {
  return std::ranges::all_of(plan.parts, [](const FleetPart& part) { return part.watts > 0; });
}

std::vector<Value> row(const Portfolio& p, const FleetPlan& plan, Size rank) {
  const bool served = !plan.missed_load;
  std::vector<Value> cells{rank, machines_words(p, plan), acquisition_words(plan),
                           std::string(weights_words(plan))};
  const auto add = [&](auto&& value) { cells.push_back(served ? Value(value()) : Value()); };
  add([&] { return plan.machines(); });
  add([&] { return where_words(p, plan); });
  add([&] { return plan.purchase(); });
  add([&] { return plan.per_hour(); });
  const auto end = [&](double v) { return std::isfinite(v) ? Value(v) : Value(); };
  add([&] { return end(plan.per_hour_low); });
  add([&] { return end(plan.per_hour_high); });
  const LoadCost tokens = served ? mean_cost(p, plan) : LoadCost{};
  add([&] { return tokens.input_per_million; });
  add([&] { return tokens.output_per_million; });
  add([&] { return cost_per_million(p, plan, p.prices); });
  add([&] { return cost_over_years(p, plan); });
  cells.push_back(served ? optional(break_even_with_api(p, plan)) : Value());
  cells.push_back(served ? optional(break_even_with_rent(p, plan)) : Value());
  double watts = 0;
  for (const FleetPart& part : plan.parts) watts += part.watts;
  cells.push_back(served && has_watts(plan) ? Value(demand_of(p, plan).output_tokens_s / watts)
                                            : Value());
  add([&] { return plan.wins; });
  add([&] { return plan.beaten; });
  cells.push_back(p.budget || p.budget_per_hour ? Value(plan.times_of_load) : Value());
  cells.push_back(missed_words(p, plan));
  return cells;
}

/// "0.4 to 0.6"; an end at which the fleet does not serve is said.
std::string interval(const FleetPlan& plan) {
  const auto end = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.4g}", value) : std::string("not served");
  };
  return fmt::format("{} to {}", end(plan.per_hour_low), end(plan.per_hour_high));
}

std::string months(const std::optional<double>& value) {
  return value ? fmt::format("after {:.3g} months", *value) : std::string("never");
}

/// Name and what of it, one a line.
using Lines = std::vector<std::pair<std::string, std::string>>;

Lines costs(const Portfolio& p, const FleetPlan& plan) {
  const std::string& currency = p.prices.currency;
  const LoadCost tokens = mean_cost(p, plan);
  Lines lines{{"Costs", fmt::format("{} an hour ({}); a million tokens: {:.4g} in, {:.4g} out "
                                    "({:.4g} out with all else included)",
                                    money(plan.per_hour(), currency), interval(plan),
                                    tokens.input_per_million, tokens.output_per_million,
                                    cost_per_million(p, plan, p.prices))}};
  if (plan.purchase() > 0)
    lines.emplace_back(
        "", fmt::format("{} to buy, then {} an hour to run", money(plan.purchase(), currency),
                        money(plan.running_per_hour(), currency)));
  lines.emplace_back(
      "", fmt::format("{} over {:g} years", money(cost_over_years(p, plan), currency), p.years));
  if (const auto api = api_per_hour(p, plan))
    lines.emplace_back("API",
                       fmt::format("the cheapest in the prices asks {} an hour for as many "
                                   "tokens; buying pays off {}",
                                   money(*api, currency), months(break_even_with_api(p, plan))));
  return lines;
}

Lines answer(const Portfolio& p, std::span<const FleetPlan> plans) {
  const FleetPlan& best = plans.front();
  Lines lines{{"Answer", fmt::format("{} ({}; weights {})", machines_words(p, best),
                                     acquisition_words(best), weights_words(best))}};
  for (const FleetPart& part : best.parts)
    for (std::size_t i = 0; i < part.loads.size(); ++i) {
      const model::Stay& stay = part.fleet.stays[i];
      const model::Estimate& e = stay.way.serving.estimate;
      lines.emplace_back(
          i == 0 && &part == best.parts.data() ? "Runs" : "",
          fmt::format("{}: {}, up to {} sequences each; first token {}, per token {}{}",
                      p.loads[part.loads[i]].name, stay_words(stay),
                      grouped(stay.way.serving.batch), duration(e.ttft.value()),
                      duration(e.tpot.value()),
                      e.verdict > model::Verdict::fits_gpus ? " (offloaded)" : ""));
    }
  for (auto& line : costs(p, best)) lines.push_back(std::move(line));
  Size free = 0;
  for (const FleetPart& part : best.parts) free += part.fleet.free_parts;
  lines.emplace_back(
      "Room", fmt::format("{:g} cards free", static_cast<double>(free) / model::parts_of_a_card));
  if (p.budget || p.budget_per_hour)
    lines.emplace_back(
        "Budget", fmt::format("pays for {}{:.4g} times the load",
                              best.times_of_load < 100 ? "" : "at least ", best.times_of_load));
  if (plans.size() > 1 && plans[1].qualifies())
    lines.emplace_back(
        "Runner-up",
        fmt::format("{} ({}): {} an hour; the answer is cheaper in {} of {} draws",
                    machines_words(p, plans[1]), acquisition_words(plans[1]),
                    money(plans[1].per_hour(), p.prices.currency), plans[1].beaten, p.draws));
  lines.emplace_back(
      "Sure", fmt::format("the cheapest in {} of {} draws within the intervals of times and memory"
                          "{} (seed {})",
                          best.wins, p.draws,
                          p.prices.uncertain.empty()
                              ? "; the prices file gives no ranges, so prices are as they stand"
                              : " and the ranges of prices",
                          p.seed));
  return lines;
}

/// What each load's tokens cost.
std::string token_prices(const Portfolio& p, const FleetPlan& plan) {
  std::vector<std::vector<std::string>> rows;
  const auto costs = load_costs(p, plan);
  for (std::size_t l = 0; l < costs.size(); ++l)
    rows.push_back({report::markdown_text(p.loads[l].name),
                    fmt::format("{:.3g}", costs[l].requests_s),
                    fmt::format("{:.4g}", costs[l].per_hour),
                    fmt::format("{:.4g}", costs[l].input_per_million),
                    fmt::format("{:.4g}", costs[l].output_per_million)});
  return fmt::format("\n## What tokens cost ({})\n\n", p.prices.currency) +
         report::markdown({"load", "requests/s", "an hour", "a million in", "a million out"},
                          {false, true, true, true, true}, rows);
}

std::string assumptions(const Portfolio& p) {
  std::string text =
      fmt::format("every load at its peak at once; electricity for {:.0f} % of the time",
                  100 * model::utilisation_of(p.prices));
  if (p.share_cards)
    text += "; models that share a card have an equal part of its memory and speed";
  text +=
      "; a fleet may mix the machines that are listed, and none is changed: other cards in one "
      "box are a machine of their own";
  for (const auto& each : p.assumed) text += "; " + each;
  return text;
}

}  // namespace

report::Table portfolio_table(const Portfolio& p, std::span<const FleetPlan> plans) {
  report::Table table{{"rank",
                       "fleet",
                       "acquisition",
                       "weights",
                       "machines",
                       "where",
                       "purchase",
                       "cost_per_hour",
                       "cost_per_hour_low",
                       "cost_per_hour_high",
                       "cost_per_million_in",
                       "cost_per_million_out",
                       "cost_per_million_out_all",
                       "cost_over_years",
                       "break_even_api_months",
                       "break_even_rent_months",
                       "tokens_per_joule",
                       "wins",
                       "beaten_by_first",
                       "times_of_load",
                       "missed"},
                      {}};
  for (std::size_t i = 0; i < plans.size(); ++i)
    table.rows.push_back(row(p, plans[i], static_cast<Size>(i) + 1));
  return table;
}

std::string portfolio_words(const Portfolio& p, std::span<const FleetPlan> plans) {
  const FleetPlan& best = plans.front();
  std::string text;
  const auto line = [&](std::string_view name, const std::string& what) {
    text += fmt::format("{:<11} {}\n", name, what);
  };
  if (!best.qualifies()) {
    line("Answer", fmt::format("nothing here serves the portfolio ({} tried)", plans.size()));
    line("Closest", fmt::format("{} ({}): {}", machines_words(p, best), acquisition_words(best),
                                missed_words(p, best)));
  } else {
    for (const auto& [name, what] : answer(p, plans)) line(name, what);
  }
  line("Assumes", assumptions(p));
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const FleetPlan& plan = plans[i];
    const bool served = !plan.missed_load;
    rows.push_back({std::to_string(i + 1), machines_words(p, plan), acquisition_words(plan),
                    std::string(weights_words(plan)),
                    served && plan.purchase() > 0 ? fmt::format("{:.0f}", plan.purchase()) : "",
                    served ? fmt::format("{:.3f}", plan.per_hour()) : "",
                    served ? interval(plan) : "",
                    served ? fmt::format("{:.4g}", mean_cost(p, plan).input_per_million) : "",
                    served ? fmt::format("{:.4g}", mean_cost(p, plan).output_per_million) : "",
                    missed_words(p, plan)});
  }
  return text + '\n' +
         aligned({"rank", "fleet", "by", "weights", "purchase", "an hour", "80 % of draws",
                  "a million in", "out", "misses"},
                 {true, false, false, false, true, true, true, true, true, false}, rows);
}

std::string purchase_page(const Portfolio& p, std::span<const FleetPlan> plans) {
  const std::string& currency = p.prices.currency;
  std::string text = fmt::format("# What to buy for {}\n\n", report::markdown_text(p.name));
  const FleetPlan& best = plans.front();
  if (best.qualifies()) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, what] : answer(p, plans))
      rows.push_back({name, report::markdown_text(what)});
    text += report::markdown({"", ""}, {false, false}, rows);
  } else {
    text += fmt::format("**Nothing here serves the portfolio.** Closest: {} ({}): {}.\n",
                        report::markdown_text(machines_words(p, best)), acquisition_words(best),
                        report::markdown_text(missed_words(p, best)));
  }
  text += fmt::format("\nAssumed: {}.\n\n## Ranking\n\n", assumptions(p));
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const FleetPlan& plan = plans[i];
    const bool served = !plan.missed_load;
    const auto shown = [&](double value, std::string_view format = "{:.4g}") {
      return served ? fmt::format(fmt::runtime(format), value) : std::string();
    };
    rows.push_back({std::to_string(i + 1), report::markdown_text(machines_words(p, plan)),
                    acquisition_words(plan), std::string(weights_words(plan)),
                    served ? report::markdown_text(where_words(p, plan)) : "",
                    plan.purchase() > 0 ? shown(plan.purchase(), "{:.0f}") : "",
                    shown(plan.per_hour()), served ? interval(plan) : "",
                    served ? shown(mean_cost(p, plan).input_per_million) : "",
                    served ? shown(mean_cost(p, plan).output_per_million) : "",
                    served ? shown(cost_over_years(p, plan), "{:.0f}") : "",
                    served ? fmt::format("{} of {}", plan.wins, p.draws) : "",
                    report::markdown_text(missed_words(p, plan))});
  }
  text += report::markdown(
      {"rank", "fleet", "by", "weights", "what runs where", "purchase (" + currency + ")",
       "an hour", "80 % of draws", "a million in", "a million out",
       fmt::format("over {:g} years", p.years), "cheapest in draws", "misses"},
      {true, false, false, false, false, true, true, true, true, true, true, true, false}, rows);
  if (best.qualifies()) text += token_prices(p, best);
  if (best.qualifies()) {
    text +=
        "\n## What the cost depends on\n\n![What a million output tokens cost when one "
        "assumption moves](tornado.svg)\n\n";
    rows.clear();
    for (const Sensitivity& each : sensitivities(p, best))
      rows.push_back({each.assumption, fmt::format("{:.4g} to {:.4g}", each.low, each.high),
                      fmt::format("{:.4g}", each.at_low), fmt::format("{:.4g}", each.at_high)});
    text +=
        report::markdown({"assumption", "from, to", "a million out at the first", "at the second"},
                         {false, true, true, true}, rows);
    text += "\n## Machines\n\n";
    rows.clear();
    for (const FleetPart& part : best.parts)
      for (const model::Pattern& pattern : part.fleet.patterns) {
        std::string here;
        for (std::size_t i = 0; i < pattern.copies.size(); ++i)
          if (pattern.copies[i] > 0)
            here += fmt::format("{}{} × {}", here.empty() ? "" : ", ", pattern.copies[i],
                                p.loads[part.loads[i]].name);
        rows.push_back({fmt::format("{}", pattern.machines),
                        report::markdown_text(p.machines[part.machine]->name),
                        report::markdown_text(here)});
      }
    text += report::markdown({"how many", "machine", "copies on each"}, {true, false, false}, rows);
  }
  text += "\n## Models\n\n";
  for (const model::Load& load : p.loads)
    text += fmt::format("- [{}]({}.md)\n", report::markdown_text(load.name),
                        report::file_name(load.name));
  return text;
}

}  // namespace headroom::sweep
