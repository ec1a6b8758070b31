#include "hardware/box_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "hardware/card_count.hpp"
#include "hardware/names.hpp"
#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"

namespace headroom {
namespace {

constexpr std::string_view wanted =
    "expected for example \"2x a100-sxm-40gb @ dual-epyc-120gb\", \"1x rtx-4090 + 1x rtx-3090\", "
    "\"cpu @ laptop-16gb\" or \"local\"";

/// True for a slice of a card, whose name extends the card's.
bool is_slice(const Device& card, const Catalogue& catalogue) {
  return std::ranges::any_of(catalogue.devices, [&](const Device& each) {
    return card.name.starts_with(each.name + "-mig-");
  });
}

/// The cards of boxes whose names begin with the host's: of mac-studio, mac-studio-m1-ultra and
/// mac-studio-m3-ultra. None where no other box's name does.
std::vector<std::string_view> cards_of_boxes_like(const Host& host, const Catalogue& catalogue) {
  const auto extends = [&](std::string_view name) { return name.starts_with(host.name + "-"); };
  std::vector<std::string_view> cards;
  bool others = false;
  for (const Device& card : catalogue.devices)
    if (card.host == host.name || extends(card.host)) {
      others = others || extends(card.host);
      cards.push_back(card.name);
    }
  return others ? cards : std::vector<std::string_view>();
}

/// "dgx-b300" and "hgx-b300", whose host has another name: the card's usual box, full.
std::optional<CountedCards> cards_of_family(std::string_view typed, const Catalogue& catalogue) {
  if (!typed.starts_with("dgx-") && !typed.starts_with("hgx-")) return std::nullopt;
  try {
    const Device& card = catalogue.device(typed.substr(4));
    const Host& host = catalogue.host(card.host);
    if (host.cards < 1) return std::nullopt;
    return CountedCards{host.cards, card.name};
  } catch (const UnknownName&) {
    return std::nullopt;
  }
}

}  // namespace

void reject_machine(std::string_view text, std::string_view why) {
  throw std::invalid_argument(fmt::format("machine '{}': {}; {}", text, why, wanted));
}

CountedCards cards_of_domain(std::string_view machine, const CountedCards& found) {
  const auto end = found.name.find_last_not_of("0123456789");
  if (end == std::string_view::npos || end + 1 == found.name.size()) return found;
  const auto count = whole_number(found.name.substr(end + 1));
  const std::string before = lower(found.name.substr(0, end + 1));
  const bool apart = before.size() > 4 && (before.ends_with(" nvl") || before.ends_with("-nvl"));
  if (!apart || !count) return found;
  require_card_count(machine, *count);
  return {found.count * *count, trimmed(found.name.substr(0, before.size() - 4))};
}

std::optional<CountedCards> cards_of_box(std::string_view text, std::string_view name,
                                         const Catalogue& catalogue) {
  std::string typed = lower(name);
  std::ranges::replace(typed, ' ', '-');
  const auto is_typed = [&](const Host& each) {
    return each.name == typed ||
           (each.cards > 0 && std::ranges::find(each.aliases, typed) != each.aliases.end());
  };
  const auto host = std::ranges::find_if(catalogue.hosts, is_typed);
  if (host == catalogue.hosts.end()) return cards_of_family(typed, catalogue);
  std::vector<std::string_view> kinds, equal;
  const auto product = [](std::string_view card) { return card.substr(0, card.rfind('-')); };
  bool one_product = true;  // in several sizes
  for (const Device& card : catalogue.devices) {
    if (card.host != host->name || is_slice(card, catalogue)) continue;
    one_product = one_product && (kinds.empty() || product(kinds.front()) == product(card.name));
    kinds.push_back(card.name);
    if (card.unified_memory && card.memory == host->ram) equal.push_back(card.name);
  }
  const int count = std::max(1, host->cards);
  const bool one = (kinds.size() == 1 && host->cards > 0) || (equal.size() == 1 && one_product);
  if (const auto others = cards_of_boxes_like(*host, catalogue); one && others.size() > 1)
    throw UnknownName(
        fmt::format("machine '{}' is ambiguous; it could be {}", text, fmt::join(others, ", ")));
  if (kinds.size() == 1 && host->cards > 0) return CountedCards{count, kinds.front()};
  const std::string after = typed.substr(typed.rfind('-') + 1) + '-';  // "b200-" of "dgx-b200"
  const auto is_own = [&](std::string_view kind) { return kind.starts_with(after); };
  if (std::ranges::count_if(kinds, is_own) == 1)
    return CountedCards{count, *std::ranges::find_if(kinds, is_own)};
  if (equal.size() == 1 && one_product) return CountedCards{count, equal.front()};
  if (kinds.empty()) kinds.push_back("CARD");
  reject_machine(text, fmt::format("'{}' is a host; name the cards in it: '{}x {} @ {}'{}", name,
                                   count, kinds.front(), host->name,
                                   kinds.size() < 2 ? std::string()
                                                    : fmt::format("; it is known with {}",
                                                                  fmt::join(kinds, ", "))));
}

}  // namespace headroom
