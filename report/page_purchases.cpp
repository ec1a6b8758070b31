// Which machines hold a model for the least money, on the page.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/answer/cost.hpp"
#include "report/format.hpp"
#include "report/page_parts.hpp"
#include "report/svg.hpp"
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
struct Way {
  std::string_view column, words;
};
constexpr Way list_price[] = {{"cards_list_price_usd", "bought"}};
constexpr Way by_the_hour[] = {{"owned_per_hour", "bought"},
                               {"used_per_hour", "bought second-hand"},
                               {"rent_per_hour", "rented"}};

double value(const Source& source, const ModelRow& line, std::string_view column,
             double otherwise) {
  return number_of(source.axes.value(column, line.entries.front().point), otherwise);
}

/// Of each model, in the order of the spec, the cheapest first; of a machine the precision that is
/// fastest.
std::vector<std::pair<std::string, std::vector<Offer>>> offers(const Source& source,
                                                               std::span<const Way> ways) {
  std::vector<std::pair<std::string, std::vector<Offer>>> models;
  const auto speed = [](const Offer& o) { return o.line->roomiest().estimate.tokens_s; };
  for (const ModelRow* line : source.shown) {
    if (grade(line->roomiest().estimate) != Grade::on_gpus) continue;
    for (const Way& way : ways) {
      const double price = value(source, *line, way.column, 0);
      if (price <= 0) continue;
      auto model = std::ranges::find(models, line->model, &decltype(models)::value_type::first);
      if (model == models.end()) model = models.emplace(model, line->model, std::vector<Offer>());
      const Offer offer{line, way.words, price};
      const auto same = std::ranges::find_if(model->second, [&](const Offer& o) {
        return o.line->machine == line->machine && o.way == way.words;
      });
      if (same == model->second.end())
        model->second.push_back(offer);
      else if (speed(offer) > speed(*same))
        *same = offer;
    }
  }
  for (auto& [model, all] : models)
    std::ranges::stable_sort(all, {},
                             [&](const Offer& o) { return std::pair(o.price, -speed(o)); });
  return models;
}

std::string number_cell(const std::string& text) { return "<td class=\"n\">" + text + "</td>"; }

std::string table(std::string_view columns, const std::string& rows) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Purchase ranking\">"
      "<table><thead><tr><th scope=\"col\">Model</th><th scope=\"col\" class=\"n\">Rank</th>"
      "<th scope=\"col\">Machine</th><th scope=\"col\">Held in</th>{}</tr></thead><tbody>\n{}"
      "</tbody></table></div>",
      columns, rows);
}

std::string head(std::string_view words) {
  return fmt::format("<th scope=\"col\" class=\"n\">{}</th>", words);
}

/// Model, rank, machine and precision.
std::string opening(const std::string& model, std::size_t rank, const Offer& offer) {
  return fmt::format("<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td>{}</td><td>{}</td>",
                     html_text(model), rank, html_text(offer.line->machine),
                     html_text(held_label(*offer.line)));
}

/// Money for a million output tokens at the batch and lengths that the line is shown at.
std::string per_million(const Source& source, const Offer& offer) {
  const ModelRow& line = *offer.line;
  model::Scenario scenario;
  scenario.batch = static_cast<Size>(value(source, line, "batch", 1));
  scenario.prompt_tokens = static_cast<Size>(value(source, line, "prompt_tokens", 1));
  scenario.output_tokens = static_cast<Size>(value(source, line, "output_tokens", 1));
  const auto replicas = static_cast<Size>(value(source, line, "data_parallel", 1));
  const auto cost =
      model::token_cost({.capital = offer.price, .energy = 0},
                        value(source, line, "utilisation", 1), std::max<Size>(1, replicas),
                        scenario, model::of_one_batch(scenario, line.roomiest().estimate));
  return shown(cost.output_per_million, DisplayUnit::plain);
}

/// By the user's prices; empty where the run had none.
std::string by_prices(const Source& source) {
  constexpr std::size_t most = 5;
  std::string currency, assumptions, conditions;
  std::set<std::string> unpriced;
  for (const ModelRow* line : source.shown) {
    const Size point = line->entries.front().point;
    if (const auto given = text_of(source.axes.value("currency", point)); !given.empty())
      currency = given;
    if (const auto given = text_of(source.axes.value("price_assumptions", point)); !given.empty())
      assumptions = given;
    if (std::ranges::none_of(
            by_the_hour, [&](const Way& way) { return value(source, *line, way.column, 0) > 0; }))
      unpriced.insert(line->machine);
    if (conditions.empty()) conditions = line->conditions;
  }
  if (currency.empty()) return "";
  std::string rows;
  for (const auto& [model, all] : offers(source, by_the_hour))
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i) {
      const Offer& offer = all[i];
      const double purchase =
          offer.way == by_the_hour[0].words ? value(source, *offer.line, "purchase_price", 0) : 0;
      rows += opening(model, i + 1, offer) + fmt::format("<td>{}</td>", offer.way) +
              number_cell(purchase > 0 ? fmt::format("{:.0f}", purchase) : "") +
              number_cell(fmt::format("{:.4g}", offer.price)) +
              number_cell(shown(offer.line->roomiest().estimate.tokens_s, DisplayUnit::plain)) +
              number_cell(per_million(source, offer)) + "</tr>\n";
    }
  std::string words = fmt::format(
      "<p>For each model the machines of this run that hold it on their GPUs, the least money an "
      "hour first, in {0}, by the prices of this run: {1}. An hour of a machine that is bought is "
      "its price over those years and the energy of its cards and host at their power limits while "
      "it is at work; rent has its energy in it. Left out: idle power, interest, staff. Speed and "
      "the cost of a million output tokens are those of the matrix ({2}), where the machine serves "
      "nothing else: larger batches cost less a token, and <code>headroom plan --prices</code> "
      "looks for them.</p>",
      html_text(currency), html_text(assumptions), html_text(conditions));
  if (!unpriced.empty()) {
    std::string names;
    for (const auto& name : unpriced) names += (names.empty() ? "" : "; ") + html_text(name);
    words += fmt::format(
        "<p>Not ranked, since a price, the years, electricity or power is missing: {}.</p>", names);
  }
  if (rows.empty()) return words;
  return words +
         table("<th scope=\"col\">Way</th>" +
                   head(fmt::format("Purchase ({})", html_text(currency))) +
                   head(fmt::format("An hour ({})", html_text(currency))) + head("tokens/s") +
                   head(fmt::format("{} for a million output tokens", html_text(currency))),
               rows);
}

std::string by_list_price(const Source& source) {
  constexpr std::size_t most = 3;
  std::string rows;
  for (const auto& [model, all] : offers(source, list_price))
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i) {
      const double speed = all[i].line->roomiest().estimate.tokens_s;
      rows += opening(model, i + 1, all[i]) + number_cell(fmt::format("{:.0f}", all[i].price)) +
              number_cell(shown(speed, DisplayUnit::plain)) +
              number_cell(shown(1000 * speed / all[i].price, DisplayUnit::plain)) + "</tr>\n";
    }
  if (rows.empty()) return "";
  return "<p>For each model the machines of this run that hold it on their GPUs, the cheapest "
         "cards "
         "first. Launch list prices of the cards alone, where a source has one; hosts, power and "
         "what shops ask today are not in it: <code>[prices]</code> in the spec ranks by your "
         "own.</p>" +
         table(head("Cards (USD)") + head("tokens/s") + head("tokens/s for 1000 USD"), rows);
}

}  // namespace

std::string purchases_part(const Source& source) {
  const std::string own = by_prices(source);
  return own.empty() ? by_list_price(source) : own;
}

}  // namespace headroom::report
