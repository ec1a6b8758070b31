// Which machines hold a model for the least money, on the page.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/format.hpp"
#include "report/output_cost.hpp"
#include "report/page_parts.hpp"
#include "report/way_rows.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

/// A machine, come by in one way, that holds a model on its GPUs.
struct Offer {
  const ModelRow* line;
  std::string_view way;
  double price;  ///< money an hour by the user's prices, else the list price of the cards
};

/// The ways to pay for a machine and the columns that say what it costs.
struct ServingOption {
  std::string_view column, words;
};
constexpr ServingOption list_price[] = {{"cards_list_price_usd", "bought"}};
constexpr ServingOption by_the_hour[] = {{hourly_columns[0], "bought"},
                                         {hourly_columns[1], "bought second-hand"},
                                         {hourly_columns[2], "rented"}};

double value(const Source& source, const ModelRow& line, std::string_view column,
             double otherwise) {
  return number_of(source.axes.value(column, line.entries.front().point), otherwise);
}

double speed_of(const Offer& offer) { return offer.line->roomiest().estimate.tokens_s; }

using ModelOffers = std::pair<std::string, std::vector<Offer>>;

/// Models in the order of the spec, machines by price, each model in the best way of the machine.
std::vector<ModelOffers> offers(const Source& source, std::span<const ServingOption> payments) {
  std::vector<ModelOffers> models;
  for (const MachineLines& machine : by_machine(source.shown))
    for (const auto& here : machine.models) {
      const ModelRow& best = best_way(here);
      if (grade(best.roomiest().estimate) != Grade::on_gpus) continue;
      for (const ServingOption& way : payments) {
        const double price = value(source, best, way.column, 0);
        if (price <= 0) continue;
        auto model = std::ranges::find(models, best.model, &ModelOffers::first);
        if (model == models.end()) model = models.insert(model, {best.model, {}});
        model->second.push_back({&best, way.words, price});
      }
    }
  for (auto& [model, all] : models)
    std::ranges::stable_sort(all, {},
                             [&](const Offer& o) { return std::pair(o.price, -speed_of(o)); });
  return models;
}

TableBlock ranking(std::vector<TableColumn> figures) {
  using enum TableColumn::Kind;
  TableBlock table{
      {{"model", row_name}, {"rank", number}, {"machine"}, {"precision"}}, {}, "Purchase ranking"};
  table.columns.insert(table.columns.end(), figures.begin(), figures.end());
  return table;
}

/// A row with model, rank, machine and precision.
std::vector<TableCell> ranked(const std::string& model, std::size_t rank, const Offer& offer) {
  return {model, std::to_string(rank), offer.line->machine, precision_label(*offer.line)};
}

/// The prices of the run in words.
struct PriceFacts {
  std::string currency, assumptions, conditions;
  std::set<std::string> unpriced;  ///< machines
};
PriceFacts price_facts(const Source& source) {
  PriceFacts facts;
  for (const ModelRow* line : source.shown) {
    const Size point = line->entries.front().point;
    if (const auto given = text_of(source.axes.value("currency", point)); !given.empty())
      facts.currency = given;
    if (const auto given = text_of(source.axes.value("price_assumptions", point)); !given.empty())
      facts.assumptions = given;
    if (std::ranges::none_of(by_the_hour, [&](const ServingOption& way) {
          return value(source, *line, way.column, 0) > 0;
        }))
      facts.unpriced.insert(line->machine);
    if (facts.conditions.empty()) facts.conditions = line->conditions;
  }
  return facts;
}

Text prices_explained(const PriceFacts& facts) {
  return Text(fmt::format(
             "For each model, the machines of this run that run it on their GPUs, the cheapest "
             "hour first. Money is in {0}, by the prices of this run: {1}. The hourly cost of a "
             "bought machine has two parts. One is its price spread over those years. The other is "
             "the energy of its cards and host at their power limits while it works. Rent includes "
             "energy. Idle power, "
             "interest "
             "and staff are left out. Speed and the cost of a million output tokens are those of "
             "the matrix ({2}), where the machine serves nothing else. Larger batches cost less "
             "per "
             "token: ",
             facts.currency, facts.assumptions, facts.conditions)) +
         code("headroom plan") + " looks for them.";
}

/// By the user's prices; empty where the run had none.
Document by_prices(const Source& source) {
  using enum TableColumn::Kind;
  constexpr std::size_t most = 5;
  const PriceFacts facts = price_facts(source);
  if (facts.currency.empty()) return {};
  TableBlock table = ranking(
      {{"way"},
       {fmt::format("purchase ({})", facts.currency), number},
       {fmt::format("per hour ({})", facts.currency), number},
       {"tokens/s", number},
       {fmt::format("{} per million output tokens, at this batch", facts.currency), number}});
  for (const auto& [model, all] : offers(source, by_the_hour))
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i) {
      const Offer& offer = all[i];
      const double purchase =
          offer.way == by_the_hour[0].words ? value(source, *offer.line, "purchase_price", 0) : 0;
      auto row = ranked(model, i + 1, offer);
      row.emplace_back(std::string(offer.way));
      row.emplace_back(purchase > 0 ? fmt::format("{:.0f}", purchase) : "");
      row.emplace_back(fmt::format("{:.4g}", offer.price));
      row.emplace_back(shown(speed_of(offer), DisplayUnit::plain));
      row.emplace_back(
          shown(output_cost(source.axes, *offer.line, offer.price), DisplayUnit::plain));
      table.rows.push_back(std::move(row));
    }
  Document part;
  part.paragraph(prices_explained(facts));
  if (!facts.unpriced.empty())
    part.paragraph(
        fmt::format("Not ranked, because a price, the years, electricity or power is missing: {}.",
                    fmt::join(facts.unpriced, "; ")));
  if (!table.rows.empty()) part.add(std::move(table));
  return part;
}

Document by_list_price(const Source& source) {
  using enum TableColumn::Kind;
  constexpr std::size_t most = 3;
  TableBlock table =
      ranking({{"cards (USD)", number}, {"tokens/s", number}, {"tokens/s for 1000 USD", number}});
  for (const auto& [model, all] : offers(source, list_price))
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i) {
      auto row = ranked(model, i + 1, all[i]);
      row.emplace_back(fmt::format("{:.0f}", all[i].price));
      row.emplace_back(shown(speed_of(all[i]), DisplayUnit::plain));
      row.emplace_back(shown(1000 * speed_of(all[i]) / all[i].price, DisplayUnit::plain));
      table.rows.push_back(std::move(row));
    }
  if (table.rows.empty()) return {};
  return Document()
      .paragraph(Text("For each model, the machines of this run that hold it on their GPUs, the "
                      "cheapest cards first. Prices are launch list prices of the cards alone, "
                      "where a source has one. They leave out hosts, power and what shops ask "
                      "today: ") +
                 code("[prices]") + " in the spec ranks by your own.")
      .add(std::move(table));
}

}  // namespace

Document purchases_part(const Source& source) {
  Document own = by_prices(source);
  return own.empty() ? by_list_price(source) : own;
}

}  // namespace headroom::report
