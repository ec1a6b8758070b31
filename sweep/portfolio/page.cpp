// purchase.md.
#include <fmt/format.h>

#include "report/curve.hpp"
#include "report/markdown.hpp"
#include "sweep/portfolio/phrases.hpp"
#include "sweep/portfolio/report.hpp"

namespace headroom::sweep {
namespace {

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

}  // namespace

std::string purchase_page(const Portfolio& p, std::span<const FleetPlan> plans) {
  const std::string& currency = p.prices.currency;
  std::string text = fmt::format("# What to buy for {}\n\n", report::markdown_text(p.name));
  const FleetPlan& best = plans.front();
  if (best.qualifies()) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, what] : answer_lines(p, plans))
      rows.push_back({name, report::markdown_text(what)});
    text += report::markdown({"", ""}, {false, false}, rows);
  } else {
    text += fmt::format("**Nothing here serves the portfolio.** Closest: {} ({}): {}.\n",
                        report::markdown_text(machines_words(p, best)), acquisition_words(best),
                        report::markdown_text(missed_words(p, best)));
  }
  text += fmt::format("\nAssumed: {}.\n\n## Ranking\n\n", assumption_words(p));
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
                    shown(plan.per_hour()), served ? interval_words(plan) : "",
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
