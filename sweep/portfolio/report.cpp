// The pages and figures of a portfolio.
#include "sweep/portfolio/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>

#include "model/infer/estimate.hpp"
#include "report/csv.hpp"
#include "report/curve.hpp"
#include "report/document.hpp"
#include "report/pareto.hpp"
#include "report/whole_file.hpp"

namespace headroom::sweep {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// The least money for an hour of `machine`; nothing without a price.
std::optional<model::HourlyCost> min_per_hour(const Portfolio& p, const Machine& machine) {
  std::optional<model::HourlyCost> least;
  for (const model::Acquisition way : p.acquisitions)
    if (const auto hour = hourly_cost(p.prices, machine, way))
      if (!least || hour->total() < least->total()) least = hour;
  return least;
}

report::TableBlock frontier_table(const Portfolio& p, std::span<const Operation> all,
                                  const CoordinatePairs& points) {
  using enum report::TableColumn::Kind;
  report::TableBlock table{{{"machine"},
                            {"cards of a copy", number},
                            {"sequences of a copy", number},
                            {"tokens/s a user", number},
                            {"tokens/s a card", number},
                            {"a million out (" + p.prices.currency + ")", number}},
                           {},
                           "Operations"};
  for (const std::size_t i : report::pareto(points)) {
    const Operation& each = all[i];
    table.rows.push_back(
        {p.machines[each.machine]->name, std::to_string(each.cards), std::to_string(each.batch),
         fmt::format("{:.4g}", each.tokens_s_user), fmt::format("{:.4g}", each.tokens_s_gpu),
         std::isnan(each.cost_per_million) ? "" : fmt::format("{:.4g}", each.cost_per_million)});
  }
  return table;
}

/// The figure of this file and the operations on its frontier.
void add_frontier(report::Document& page, std::string title, const std::string& file,
                  report::TableBlock table) {
  page.add(report::Pictures{{{{}, std::move(title), "<" + file + ">"}}}).add(std::move(table));
}

}  // namespace

std::vector<Operation> operations(const Portfolio& p, std::size_t load) {
  std::vector<Operation> all;
  for (std::size_t m = 0; m < p.machines.size(); ++m) {
    const Machine& machine = *p.machines[m];
    if (machine.devices.empty()) continue;
    const auto hour = min_per_hour(p, machine);
    const model::Target& target = p.loads[load].target;
    for (const auto& share : model::shares(p.loads[load].request, machine, target)) {
      const model::Serving most =
          model::serve_on(p.loads[load].request, share, target, model::Vary::batch);
      for (Size batch = 1; most.replicas > 0; batch = std::min(2 * batch, most.batch)) {
        model::Scenario s = model::on(p.loads[load].request, share);
        s.batch = batch;
        const model::Estimate e = evaluate(s);
        const auto cards = static_cast<Size>(share.machine.devices.size());
        const model::Service seen = service_of(s, e);
        const auto replicas = static_cast<double>(share.attention);
        const double requests_s = static_cast<double>(share.replicas) * replicas * seen.requests_s;
        const double cost =
            hour ? model::token_cost(hour->total(), model::utilisation_of(p.prices), requests_s, s)
                       .output_per_million
                 : unknown;
        all.push_back({m, cards, batch * share.attention, 1 / seen.tpot.value(),
                       replicas * seen.output_tokens_s(s) / static_cast<double>(cards), cost});
        if (batch == most.batch) break;
      }
    }
  }
  return all;
}

report::Document load_part(const Portfolio& p, std::size_t load, std::span<const Operation> all,
                           int level) {
  const model::Load& each = p.loads[load];
  const std::string stem = report::file_name(each.name);
  report::Document part;
  part.paragraph(fmt::format("{} in {} on {}: prompt {} tokens, output {} tokens.",
                             each.request.weights->model->name, each.request.weights->scheme->name,
                             each.request.runtime->name, each.request.prompt_tokens,
                             each.request.output_tokens));
  if (all.empty())
    return part.paragraph("No machine here serves it within its targets on its cards.");
  add_frontier(part.heading(level, "Speed for one user against speed of a card"),
               "Output tokens a second of one user, and of a card", stem + ".speed.svg",
               frontier_table(p, all, by_cards(all)));
  if (priced(all))
    add_frontier(part.heading(level, "Speed for one user against its price"),
                 "Output tokens a second of one user, and the cost of a million",
                 stem + ".cost.svg", frontier_table(p, all, by_money(all)));
  return part;
}

std::vector<std::filesystem::path> write_portfolio(const Portfolio& p,
                                                   std::span<const FleetPlan> plans,
                                                   const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> written{"purchase.html", "purchase.md", "purchase.csv"};
  std::vector<report::PageSection> sections = purchase_sections(p, plans);
  report::write_whole(folder / written[1], purchase_page(p, sections));
  std::ostringstream csv;
  report::write_csv(csv, portfolio_table(p, plans));
  report::write_whole(folder / written[2], csv.str());
  std::vector<report::Drawing> drawings;
  for (std::size_t l = 0; l < p.loads.size(); ++l) {
    const auto all = operations(p, l);
    report::Document page;
    page.heading(1, p.loads[l].name).append(load_part(p, l, all, 2));
    written.push_back(report::file_name(p.loads[l].name) + ".md");
    report::write_whole(folder / written.back(), to_markdown(page));
    sections.push_back({p.loads[l].name, load_part(p, l, all, 3)});
    for (auto& each : frontier_drawings(p, l, all)) drawings.push_back(std::move(each));
  }
  if (plans.front().qualifies()) drawings.push_back(tornado_drawing(p, plans.front()));
  for (auto& each : report::draw(drawings, folder)) written.push_back(std::move(each));
  for (report::PageSection& each : sections) each.content = with_images(each.content, folder);
  report::write_whole(folder / written[0],
                      html_page(title_of(p), "machines, costs and speeds", {}, sections));
  return written;
}

}  // namespace headroom::sweep
