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
#include "report/markdown.hpp"
#include "report/pareto.hpp"
#include "report/whole_file.hpp"

namespace headroom::sweep {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// The least money for an hour of `machine`; nothing without a price.
std::optional<model::HourlyCost> least_per_hour(const Portfolio& p, const Machine& machine) {
  std::optional<model::HourlyCost> least;
  for (const model::Acquisition way : p.acquisitions)
    if (const auto hour = hourly_cost(p.prices, machine, way))
      if (!least || hour->total() < least->total()) least = hour;
  return least;
}

std::string operation_row_words(const Portfolio& p, const Operation& each) {
  return fmt::format(
      "{} | {} | {} | {:.4g} | {:.4g} | {}", report::markdown_text(p.machines[each.machine]->name),
      each.cards, each.batch, each.tokens_s_user, each.tokens_s_gpu,
      std::isnan(each.cost_per_million) ? "" : fmt::format("{:.4g}", each.cost_per_million));
}

std::string frontier_table(const Portfolio& p, std::span<const Operation> all,
                           const CoordinatePairs& points) {
  std::string text =
      "| machine | cards of a copy | sequences of a copy | tokens/s a user | tokens/s a card | a "
      "million out (" +
      p.prices.currency + ") |\n| --- | ---: | ---: | ---: | ---: | ---: |\n";
  for (const std::size_t i : report::pareto(points))
    text += "| " + operation_row_words(p, all[i]) + " |\n";
  return text;
}

}  // namespace

std::vector<Operation> operations(const Portfolio& p, std::size_t load) {
  std::vector<Operation> all;
  for (std::size_t m = 0; m < p.machines.size(); ++m) {
    const Machine& machine = *p.machines[m];
    if (machine.devices.empty()) continue;
    const auto hour = least_per_hour(p, machine);
    for (const model::MachineShare& share : model::shares(machine)) {
      model::Target target = p.loads[load].target;
      const model::Serving most =
          model::serve_on(p.loads[load].request, share, target, model::Vary::batch);
      for (Size batch = 1; most.replicas > 0; batch = std::min(2 * batch, most.batch)) {
        model::Scenario s = p.loads[load].request;
        s.machine = &share.machine;
        if (s.runtime->split == model::Split::tensors) s.tensor_parallel = most.cards;
        s.batch = batch;
        const model::Estimate e = evaluate(s);
        const auto cards = static_cast<Size>(share.machine.devices.size());
        const model::Service seen = service_of(s, e);
        const double cost = hour ? model::token_cost(*hour, model::utilisation_of(p.prices),
                                                     share.replicas, s, seen)
                                       .output_per_million
                                 : unknown;
        all.push_back({m, cards, batch, 1 / seen.tpot.value(),
                       seen.output_tokens_s(s) / static_cast<double>(cards), cost});
        if (batch == most.batch) break;
      }
    }
  }
  return all;
}

std::string load_page(const Portfolio& p, std::size_t load, std::span<const Operation> all) {
  const model::Load& each = p.loads[load];
  const std::string stem = report::file_name(each.name);
  std::string text = fmt::format("# {}\n\n{} in {} on {}: prompt {} tokens, output {} tokens.\n",
                                 report::markdown_text(each.name),
                                 report::markdown_text(each.request.weights->model->name),
                                 each.request.weights->scheme->name, each.request.runtime->name,
                                 each.request.prompt_tokens, each.request.output_tokens);
  if (all.empty()) return text + "\nNo machine here serves it within its targets on its cards.\n";
  text += fmt::format(
      "\n## Speed for one user against speed of a card\n\n![Output tokens a second of one user, "
      "and of a card](<{}.speed.svg>)\n\n",
      stem);
  text += frontier_table(p, all, by_cards(all));
  if (priced(all)) {
    text += fmt::format(
        "\n## Speed for one user against its price\n\n![Output tokens a second of one user, and "
        "what a million cost](<{}.cost.svg>)\n\n",
        stem);
    text += frontier_table(p, all, by_money(all));
  }
  return text;
}

std::vector<std::filesystem::path> write_portfolio(const Portfolio& p,
                                                   std::span<const FleetPlan> plans,
                                                   const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> written{"purchase.md", "purchase.csv"};
  report::write_whole(folder / written[0], purchase_page(p, plans));
  std::ostringstream csv;
  report::write_csv(csv, portfolio_table(p, plans));
  report::write_whole(folder / written[1], csv.str());
  std::vector<report::Drawing> drawings;
  for (std::size_t l = 0; l < p.loads.size(); ++l) {
    const auto all = operations(p, l);
    written.push_back(report::file_name(p.loads[l].name) + ".md");
    report::write_whole(folder / written.back(), load_page(p, l, all));
    for (auto& each : frontier_drawings(p, l, all)) drawings.push_back(std::move(each));
  }
  if (plans.front().qualifies()) drawings.push_back(tornado_drawing(p, plans.front()));
  for (auto& each : report::draw(drawings, folder)) written.push_back(std::move(each));
  return written;
}

}  // namespace headroom::sweep
