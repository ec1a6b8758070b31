// A portfolio's answer as a table and in words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hardware/text.hpp"
#include "sweep/output.hpp"
#include "sweep/portfolio/phrases.hpp"
#include "sweep/portfolio/report.hpp"
#include "sweep/screen/interval_words.hpp"
#include "sweep/screen/screen_table.hpp"

namespace headroom::sweep {
namespace {

using report::Value;

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
  cells.push_back(served ? report::optional_value(break_even_with_api(p, plan)) : Value());
  cells.push_back(served ? report::optional_value(break_even_with_rent(p, plan)) : Value());
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

/// "4x rtx-5090 @ threadripper-pro-256gb and …" with cards alone.
std::string without_hosts(std::string machines) {
  for (auto at = machines.find(" @ "); at != std::string::npos; at = machines.find(" @ "))
    machines.erase(at, std::min(machines.find(' ', at + 3), machines.size()) - at);
  return machines;
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
    text += fmt::format("{:<10} {}\n", name, trimmed(wrapped(what, 11, 11)));
  };
  if (!best.qualifies()) {
    line("Answer", fmt::format("nothing here serves the portfolio ({} tried)", plans.size()));
    line("Closest", fmt::format("{} ({}): {}", machines_words(p, best), acquisition_words(best),
                                missed_words(p, best)));
  } else {
    for (const auto& [name, what] : answer_lines(p, plans)) line(name, what);
  }
  line("Assumes", assumption_words(p));
  constexpr std::ptrdiff_t around = 3;  // an empty line, the heading, the rest
  const std::string foot = footnote_of(text);
  const auto lines = std::ranges::count(text + foot, '\n');
  const auto most =
      static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(screen_lines - around - lines, 1, 5));
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < std::min(plans.size(), most); ++i) {
    const FleetPlan& plan = plans[i];
    const bool served = !plan.missed_load;
    const auto when_served = [&](auto&& words) { return served ? words() : std::string(); };
    rows.push_back({std::to_string(i + 1), without_hosts(machines_words(p, plan)),
                    acquisition_words(plan), std::string(weights_words(plan)),
                    served && plan.purchase() > 0 ? three_digits(plan.purchase()) : "",
                    when_served([&] { return three_digits(plan.per_hour()); }),
                    when_served([&] { return interval_words(plan); }), when_served([&] {
                      return three_digits(mean_cost(p, plan).output_per_million);
                    }),
                    missed_words(p, plan)});
  }
  constexpr int always = ScreenColumn::always;
  text += '\n' + screen_table({{"", true, always, {}},
                               {"fleet", false, always, {}},
                               {"by", false, 4, {}},
                               {"weights", false, 2, {}},
                               {"purchase", true, 5, {}},
                               {"an hour", true, always, {}},
                               {"80 % of draws", true, 3, {}},
                               {"a million out", true, 1, {}},
                               {"misses", false, 6, {}}},
                              rows);
  if (plans.size() > most)
    text += fmt::format("… and {} more: --format csv has all, --out FOLDER writes pages\n",
                        plans.size() - most);
  return text + foot;
}

}  // namespace headroom::sweep
