#include "model/engine/cards_from.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "hardware/compute_capability.hpp"
#include "hardware/text.hpp"

namespace headroom::model {
namespace {

constexpr std::string_view generation = ".x";

/// "8.9", or "10.x": one generation.
void read_capability(std::string_view text, CardsFrom& cards) {
  const bool whole = text.ends_with(generation);
  const std::string first =
      whole ? std::string(text.substr(0, text.size() - generation.size())) + ".0"
            : std::string(text);
  const auto from = parse_compute_capability(first);
  if (!from)
    throw std::invalid_argument(
        fmt::format("found cards '{} {}', expected a maker, a maker and a compute capability such "
                    "as \"nvidia 8.9\" or \"nvidia 10.x\", or a maker and architectures such as "
                    "\"amd gfx90a gfx11\"",
                    cards.vendor, text));
  cards.compute_capability = from->number();
  if (whole) cards.before = from->major + 1;
}

}  // namespace

bool CardsFrom::holds(const Device& card) const {
  if (vendor != card.vendor) return false;
  if (card.compute_capability) {
    const double found = card.compute_capability->number();
    if (found < compute_capability || (before > 0 && found >= before)) return false;
  }
  return architectures.empty() || card.architecture.empty() ||
         std::ranges::any_of(architectures, [&](std::string_view beginning) {
           return card.architecture.starts_with(beginning);
         });
}

bool holds(const std::vector<CardsFrom>& cards, const Device& card) {
  return card.vendor.empty() ||
         std::ranges::any_of(cards, [&](const CardsFrom& each) { return each.holds(card); });
}

bool holds(const std::vector<CardsFrom>& cards, const Machine& machine) {
  return std::ranges::all_of(machine.devices,
                             [&](const Device& card) { return holds(cards, card); });
}

CardsFrom read_cards(std::string_view text) {
  const auto all = words(text);
  CardsFrom cards;
  if (all.empty()) throw std::invalid_argument("found '', expected a maker of cards");
  cards.vendor = all.front();
  for (const std::string_view each : std::vector(all.begin() + 1, all.end()))
    if (each.starts_with("gfx"))
      cards.architectures.push_back(each);
    else
      read_capability(each, cards);
  return cards;
}

std::string text_of(const CardsFrom& cards) {
  std::string text(cards.vendor);
  if (cards.before > 0)
    text += fmt::format(" {}{}", static_cast<int>(cards.compute_capability), generation);
  else if (cards.compute_capability > 0)
    text += fmt::format(" {:.1f}", cards.compute_capability);
  for (const std::string_view each : cards.architectures) text += fmt::format(" {}", each);
  return text;
}

std::string text_of(const std::vector<CardsFrom>& cards) {
  std::vector<std::string> texts;
  for (const CardsFrom& each : cards) texts.push_back(text_of(each));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace headroom::model
