// purchase.md.
#include <fmt/format.h>

#include "report/curve.hpp"
#include "report/document.hpp"
#include "sweep/portfolio/phrases.hpp"
#include "sweep/portfolio/report.hpp"

namespace headroom::sweep {
namespace {

using report::Document;
using report::TableBlock;
using Kind = report::TableColumn::Kind;

std::string four_digits(double value) { return fmt::format("{:.4g}", value); }

/// The answer in a few lines, or what comes closest.
void add_answer(Document& page, const Portfolio& p, std::span<const FleetPlan> plans) {
  const FleetPlan& best = plans.front();
  if (!best.qualifies()) {
    page.paragraph(report::strong("Nothing here serves the portfolio.") +
                   fmt::format(" Closest: {} ({}): {}.", machines_words(p, best),
                               acquisition_words(best), missed_words(p, best)));
    return;
  }
  TableBlock table{{{""}, {""}}, {}, "Answer"};
  for (const auto& [name, what] : answer_lines(p, plans))
    table.rows.push_back({std::string(name), std::string(what)});
  page.add(std::move(table));
}

std::vector<report::TableCell> ranked_row(const Portfolio& p, const FleetPlan& plan,
                                          std::size_t rank) {
  const bool served = !plan.missed_load;
  const auto where_served = [&](auto&& text) {
    return served ? std::string(text()) : std::string();
  };
  return {std::to_string(rank),
          machines_words(p, plan),
          std::string(acquisition_words(plan)),
          std::string(weights_words(plan)),
          served && plan.purchase() > 0 ? fmt::format("{:.0f}", plan.purchase()) : "",
          where_served([&] { return four_digits(plan.per_hour()); }),
          where_served([&] { return interval_words(plan); }),
          where_served([&] { return four_digits(mean_cost(p, plan).input_per_million); }),
          where_served([&] { return four_digits(mean_cost(p, plan).output_per_million); }),
          where_served([&] { return fmt::format("{:.0f}", cost_over_years(p, plan)); }),
          where_served([&] { return fmt::format("{} of {}", plan.wins, p.draws); }),
          missed_words(p, plan)};
}

TableBlock ranking(const Portfolio& p, std::span<const FleetPlan> plans) {
  TableBlock table{{{"rank", Kind::number},
                    {"fleet"},
                    {"by"},
                    {"weights"},
                    {fmt::format("purchase ({})", p.prices.currency), Kind::number},
                    {"an hour", Kind::number},
                    {"80 % of draws", Kind::number},
                    {"a million in", Kind::number},
                    {"a million out", Kind::number},
                    {fmt::format("over {:g} years", p.years), Kind::number},
                    {"cheapest in draws", Kind::number},
                    {"misses"}},
                   {},
                   "Ranking"};
  for (std::size_t i = 0; i < plans.size(); ++i)
    table.rows.push_back(ranked_row(p, plans[i], i + 1));
  return table;
}

/// Token cost of each load.
TableBlock token_prices(const Portfolio& p, const FleetPlan& plan) {
  TableBlock table{{{"load"},
                    {"requests/s", Kind::number},
                    {"an hour", Kind::number},
                    {"a million in", Kind::number},
                    {"a million out", Kind::number}},
                   {},
                   "Cost of tokens"};
  const auto costs = load_costs(p, plan);
  for (std::size_t l = 0; l < costs.size(); ++l)
    table.rows.push_back({p.loads[l].name, fmt::format("{:.3g}", costs[l].requests_s),
                          four_digits(costs[l].per_hour), four_digits(costs[l].input_per_million),
                          four_digits(costs[l].output_per_million)});
  return table;
}

TableBlock sensitivity_table(const Portfolio& p, const FleetPlan& plan) {
  TableBlock table{{{"assumption"},
                    {"from, to", Kind::number},
                    {"a million out at the first", Kind::number},
                    {"at the second", Kind::number}},
                   {},
                   "Sensitivity of the cost"};
  for (const Sensitivity& each : sensitivities(p, plan))
    table.rows.push_back({std::string(each.assumption),
                          fmt::format("{:.4g} to {:.4g}", each.low, each.high),
                          four_digits(each.at_low), four_digits(each.at_high)});
  return table;
}

TableBlock machine_table(const Portfolio& p, const FleetPlan& plan) {
  TableBlock table{{{"how many", Kind::number}, {"machine"}, {"copies on each"}}, {}, "Machines"};
  for (const FleetPart& part : plan.parts)
    for (const model::Pattern& pattern : part.fleet.patterns) {
      std::string here;
      for (std::size_t i = 0; i < pattern.copies.size(); ++i)
        if (pattern.copies[i] > 0)
          here += fmt::format("{}{} × {}", here.empty() ? "" : ", ", pattern.copies[i],
                              p.loads[part.loads[i]].name);
      table.rows.push_back(
          {fmt::format("{}", pattern.machines), p.machines[part.machine]->name, here});
    }
  return table;
}

}  // namespace

std::vector<report::PageSection> purchase_sections(const Portfolio& p,
                                                   std::span<const FleetPlan> plans) {
  const FleetPlan& best = plans.front();
  std::vector<report::PageSection> sections;
  Document answer;
  add_answer(answer, p, plans);
  answer.paragraph(fmt::format("Assumed: {}.", assumption_words(p)));
  sections.push_back({"Answer", std::move(answer)});
  const auto add = [&](std::string heading, TableBlock table) {
    Document content;
    content.add(std::move(table));
    sections.push_back({std::move(heading), std::move(content)});
  };
  add("Ranking", ranking(p, plans));
  if (!best.qualifies()) return sections;
  add(fmt::format("Cost of tokens ({})", p.prices.currency), token_prices(p, best));
  Document moved;
  moved
      .add(report::Pictures{
          {{{}, "Cost of a million output tokens when one assumption changes", "tornado.svg"}}})
      .add(sensitivity_table(p, best));
  sections.push_back({"Sensitivity of the cost", std::move(moved)});
  add("Machines", machine_table(p, best));
  return sections;
}

std::string title_of(const Portfolio& p) { return "What to buy for " + p.name; }

std::string purchase_page(const Portfolio& p, std::span<const report::PageSection> sections) {
  Document page;
  page.heading(1, title_of(p));
  for (const auto& [heading, content] : sections) {
    page.heading(2, heading);
    page.append(content);
  }
  report::List models;
  for (const model::Load& load : p.loads)
    models.items.push_back({report::link(load.name, report::file_name(load.name) + ".md")});
  page.heading(2, "Models").add(std::move(models));
  return to_markdown(page);
}

}  // namespace headroom::sweep
