// Parses machines as people write them, and builds machines from a specification alone.
#include "hardware/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "hardware/box_names.hpp"
#include "hardware/boxes.hpp"
#include "hardware/card_count.hpp"
#include "hardware/card_list.hpp"
#include "hardware/detect.hpp"
#include "hardware/names.hpp"
#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"

namespace headroom {
namespace {

constexpr int max_cards = 1024;
/// "rtx 4090 x2" and "3090x2", whose count comes last: it is behind a space or a digit, as "x2" may
/// end a name.
CountedCards count_behind(std::string_view machine, std::string_view text) {
  const auto x = text.find_last_of("xX");
  if (x == std::string_view::npos || x == 0) return {1, text};
  const char before = text[x - 1];
  const auto count = whole_number(trimmed(text.substr(x + 1)));
  if (!count || (before != ' ' && !(before >= '0' && before <= '9'))) return {1, text};
  require_card_count(machine, *count);
  return {*count, trimmed(text.substr(0, x))};
}

CountedCards read_cards(std::string_view machine, std::string_view text) {
  std::size_t digits = 0;
  std::int64_t count = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    count = std::min<std::int64_t>(count * 10 + (text[digits] - '0'), 1'000'000'000);
    ++digits;
  }
  std::string_view rest = trimmed(text.substr(digits));
  const bool counted = digits > 0 && !rest.empty() && (rest.front() == 'x' || rest.front() == 'X');
  if (!counted) return count_behind(machine, text);
  const bool joined = digits + 1 >= text.size() || text[digits + 1] != ' ';
  if (count > max_cards && joined)
    return count_behind(machine, text);  // "9950x" and "7900xtx" are names
  rest = trimmed(rest.substr(1));
  if (rest.starts_with('-')) rest = trimmed(rest.substr(1));
  require_card_count(machine, count);
  if (rest.empty()) reject_machine(machine, "a count without a card");
  return {count, rest};
}

/// The kinds of cards in `cards`. A "+" parts two of them unless it belongs to a name, as in "Ryzen
/// AI Max+ 395".
std::vector<std::string_view> items_of(std::string_view text, std::string_view cards,
                                       const Catalogue& catalogue) {
  const auto parts = split(cards, '+');
  const auto is_card = [&](std::string_view item) {
    if (item.empty()) return true;  // a mistake, which is not in a name
    try {
      catalogue.device(read_cards(text, item).name);
      return true;
    } catch (const UnknownName&) {
      return false;
    }
  };
  const bool one = parts.size() > 1 && !is_card(parts.front()) && is_card(cards);
  return one ? std::vector{cards} : parts;
}

/// "128gb ram", "128 GB".
bool is_memory(std::string_view item) {
  std::string text = lower(item);
  if (text.ends_with("ram")) text.resize(text.size() - 3);
  const std::string_view size = trimmed(text);
  const auto digits = std::min(size.find_first_not_of("0123456789."), size.size());
  const std::string_view unit = trimmed(size.substr(digits));
  return digits > 0 && (unit == "gb" || unit == "gib" || unit == "g");
}

/// `cards`: the part of the machine's `text` before "@".
std::vector<Device> read_all_cards(std::string_view text, std::string_view cards,
                                   const Catalogue& catalogue) {
  std::vector<Device> all;
  for (const std::string_view item : items_of(text, cards, catalogue)) {
    if (item.empty()) reject_machine(text, "no card next to '+'");
    if (!all.empty() && is_memory(item))
      reject_machine(
          text,
          fmt::format("'{}' is memory of the host: give it apart from the cards, as RAM", item));
    CountedCards found = cards_of_domain(text, read_cards(text, item));
    if (const auto box = cards_of_box(text, found.name, catalogue)) {
      found = {found.count * box->count, box->name};
    }
    const Device& device = catalogue.device(found.name);
    require_card_count(text, static_cast<std::int64_t>(all.size()) + found.count);
    all.insert(all.end(), static_cast<std::size_t>(found.count), device);
  }
  return all;
}

/// Takes size and bandwidth of host.ram from a card with unified memory: both are the same memory.
/// A second card is in a second box, over the host's network.
/// CUDA sees as much of it as the system does: 121.7 of 128 GiB on a DGX Spark
/// (catalogue/visible_memory.csv; free -h of the same machines).
void share_memory(std::string_view text, Machine& machine) {
  const auto shared = std::ranges::find_if(machine.devices, &Device::unified_memory);
  if (shared == machine.devices.end()) return;
  const Device& card = *shared;
  const bool boxes = machine.host.cards == 1 && machine.host.network > BytesPerSecond() &&
                     std::ranges::all_of(machine.devices, [&](const Device& each) {
                       return each.name == card.name;
                     });
  if (machine.devices.size() > 1 && !boxes)
    throw std::invalid_argument(
        fmt::format("machine '{}': '{}' shares the memory of its host, which has no second card{}; "
                    "type '{}' for one box",
                    text, card.name,
                    machine.host.network > BytesPerSecond() ? "" : " and no network", card.name));
  machine.host.ram = card.vendor == "nvidia" ? usable_memory(card) : card.memory;
  machine.host.ram_bandwidth = cores_share * card.bandwidth;
}

BytesPerSecond smaller_known(BytesPerSecond a, BytesPerSecond b) {
  if (a == BytesPerSecond()) return b;
  if (b == BytesPerSecond()) return a;
  return std::min(a, b);
}

/// True if both have the same links.
bool linked_alike(const Device& a, const Device& b) {
  return a.link.value() == b.link.value() && a.host_bus.value() == b.host_bus.value() &&
         a.link_kind == b.link_kind;
}

}  // namespace

void require_card_count(std::string_view machine, std::int64_t count) {
  if (count < 1 || count > max_cards)
    reject_machine(machine, fmt::format("{} cards; from 1 to {} are possible", count, max_cards));
}

const Machine& machine_without_cards() {
  static const Machine none;
  return none;
}

bool Machine::has_one_kind() const {
  return std::ranges::all_of(devices,
                             [&](const Device& card) { return card.name == devices.front().name; });
}

std::string Machine::canonical_name() const {
  std::vector<std::string> runs;
  for (auto begin = devices.begin(); begin != devices.end();) {
    const auto end = std::find_if(begin, devices.end(),
                                  [&](const Device& each) { return each.name != begin->name; });
    runs.push_back(fmt::format("{}x {}", end - begin, begin->name));
    begin = end;
  }
  if (runs.empty()) runs.emplace_back("cpu");
  return fmt::format("{} @ {}", fmt::join(runs, " + "), host.name);
}

BytesPerSecond Machine::host_bus(std::size_t card) const {
  return smaller_known(devices.at(card).host_bus, host.host_bus);
}

CardLink Machine::card_link(std::size_t together) const {
  if (devices.empty()) return {};
  if (host.cards > 0 && together > static_cast<std::size_t>(host.cards))
    return {(1.0 / host.cards) * host.network, LinkPath::network};
  const bool peers = has_one_kind() && devices.front().peer_access;
  const auto inside_a_box = [peers](BytesPerSecond link, BytesPerSecond bus) {
    const LinkPath without_link = peers ? LinkPath::bus : LinkPath::host_memory;
    return CardLink{link, link > bus ? LinkPath::own : without_link};
  };
  if (host.card_link > BytesPerSecond()) return inside_a_box(host.card_link, host_bus(0));
  BytesPerSecond link = devices.front().link;
  BytesPerSecond bus = host_bus(0);
  bool alike = true;
  for (std::size_t i = 1; i < devices.size(); ++i) {
    if (linked_alike(devices[i], devices[i - 1])) continue;
    alike = alike && devices[i].link_kind == devices.front().link_kind;
    link = std::min(link, devices[i].link);
    bus = smaller_known(bus, host_bus(i));
  }
  return inside_a_box(alike && link > BytesPerSecond() ? link : bus, bus);
}

CountedCards counted_cards(std::string_view text) { return read_cards(text, trimmed(text)); }

std::vector<Device> parse_cards(std::string_view text, const Catalogue& catalogue) {
  return read_all_cards(text, text, catalogue);
}

Machine parse_machine(std::string_view text, const Catalogue& catalogue) {
  const std::vector<std::string_view> halves = split(trimmed(text), '@');
  if (halves.size() > 2) reject_machine(text, "more than one '@'");
  if (halves.size() == 2 && halves[1].empty()) reject_machine(text, "no host after '@'");
  if (halves[0].empty()) reject_machine(text, "no card named");
  if (lower(halves[0]) == "local") {
    if (halves.size() == 2) reject_machine(text, "'local' brings its own host");
    return local_machine(detect(), catalogue);
  }
  Machine machine;
  if (lower(halves[0]) != "cpu") machine.devices = read_all_cards(text, halves[0], catalogue);
  machine.host_assumed = halves.size() == 1;
  const bool usual = !machine.devices.empty() && !machine.devices.front().host.empty();
  machine.host = !machine.host_assumed ? catalogue.host(halves[1])
                 : usual               ? catalogue.host(machine.devices.front().host)
                                       : catalogue.host(catalogue.default_host);
  take_larger_host(machine, catalogue);
  machine.ram_assumed = machine.host.name == catalogue.default_host;
  share_memory(text, machine);
  join_boxes(text, machine, catalogue);
  machine.name = machine.canonical_name();
  return machine;
}

Bytes largest_card(const Machine& machine) {
  Bytes most;
  for (const Device& device : machine.devices) most = std::max(most, device.memory);
  return most;
}

std::string_view cards_in_name(std::string_view machine) {
  return machine.substr(0, machine.find(" @ "));
}

std::string_view kind_in_name(std::string_view machine) {
  const std::string_view cards = cards_in_name(machine);
  if (cards.find(" + ") != std::string_view::npos) return cards;
  const auto count = cards.find("x ");
  return count == std::string_view::npos ? cards : cards.substr(count + 2);
}

}  // namespace headroom
