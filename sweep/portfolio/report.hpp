// A portfolio's answer as text, tables, pages and figures.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/html_page.hpp"
#include "report/plot.hpp"
#include "report/table.hpp"
#include "sweep/portfolio/portfolio.hpp"

namespace headroom::sweep {

/// One row for each plan, the first the best.
report::Table portfolio_table(const Portfolio& portfolio, std::span<const FleetPlan> plans);
/// The answer in words, with the table of the best ones.
std::string portfolio_words(const Portfolio& portfolio, std::span<const FleetPlan> plans);
/// Answer and ranking, what runs where, what the cost depends on, whether the order is sure.
std::vector<report::PageSection> purchase_sections(const Portfolio& portfolio,
                                                   std::span<const FleetPlan> plans);
std::string title_of(const Portfolio& portfolio);
/// purchase.md, with links to the pages of the loads.
std::string purchase_page(const Portfolio& portfolio,
                          std::span<const report::PageSection> sections);

/// One way to run a load at one batch.
struct Operation {
  std::size_t machine = 0;
  Size cards = 0, batch = 0;    ///< cards and batch of a copy
  double tokens_s_user = 0;     ///< output tokens a second of one sequence after its first
  double tokens_s_gpu = 0;      ///< rate of all sequences, prompts included, by cards
  double cost_per_million = 0;  ///< output tokens (model::token_cost, all copies full), by the
                                ///< cheapest way to come by the machine; NaN without a price
};
/// Every machine, every equal share of it, batches 1, 2, 4, … up to the largest that is within the
/// load's targets. Machines without cards are left out.
std::vector<Operation> operations(const Portfolio& portfolio, std::size_t load);

/// Speed for one user against speed of a card, and against money (negative: less is better).
using CoordinatePairs = std::vector<std::pair<double, double>>;
CoordinatePairs by_cards(std::span<const Operation> operations);
CoordinatePairs by_money(std::span<const Operation> operations);
/// True if any of them has a price.
bool priced(std::span<const Operation> operations);

/// The part of one load: its operations on the two frontiers, under headings of `level`.
report::Document load_part(const Portfolio& portfolio, std::size_t load,
                           std::span<const Operation> operations, int level);
/// The two frontiers of a load; and the sensitivities of a plan.
std::vector<report::Drawing> frontier_drawings(const Portfolio& portfolio, std::size_t load,
                                               std::span<const Operation> operations);
report::Drawing tornado_drawing(const Portfolio& portfolio, const FleetPlan& plan);

/// Writes purchase.html, which has everything, purchase.md, purchase.csv, a page for each load and
/// the figures. Returns what was written, relative to `folder`. Throws StoreError.
std::vector<std::filesystem::path> write_portfolio(const Portfolio& portfolio,
                                                   std::span<const FleetPlan> plans,
                                                   const std::filesystem::path& folder);

}  // namespace headroom::sweep
