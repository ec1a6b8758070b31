// The boxes that a machine's cards are in: which hosts hold them, and what several have together.
#include "hardware/boxes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "hardware/card_count.hpp"
#include "hardware/processor.hpp"
#include "hardware/quantity_text.hpp"

namespace headroom {
namespace {

/// Hosts of the catalogue that hold `cards` cards in one or several boxes, fewest slots first.
std::vector<const Host*> hosts_for(int cards, const Catalogue& catalogue) {
  std::vector<const Host*> all;
  for (const Host& each : catalogue.hosts)
    // Link bridges fit certain cards only.
    if (each.card_link == BytesPerSecond() &&
        (each.cards >= cards || (each.cards > 1 && each.network > BytesPerSecond())))
      all.push_back(&each);
  std::ranges::stable_sort(all, {}, [&](const Host* each) {
    return std::pair(each->cards < cards, std::abs(each->cards - cards));
  });
  return all;
}

/// Machines to type for them, such as "'16x rtx-3090 @ epyc-rome-512gb' (8 in each of several)".
std::string machines_for(const Machine& machine, const Catalogue& catalogue) {
  constexpr std::size_t most = 4;
  const auto cards = static_cast<int>(machine.devices.size());
  Machine other = machine;
  std::vector<std::string> words;
  for (const Host* each : hosts_for(cards, catalogue)) {
    if (words.size() == most) break;
    other.host = *each;
    words.push_back(fmt::format("'{}' ({})", other.canonical_name(),
                                each->cards >= cards
                                    ? fmt::format("up to {}", each->cards)
                                    : fmt::format("{} in each of several", each->cards)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

Boxes boxes_of(const Host& host, Size cards) {
  if (host.cards < 1 || cards <= host.cards) return {1, cards};
  const Size count = divided_up(cards, host.cards);
  return {count, divided_up(cards, count)};
}

void take_larger_host(Machine& machine, const Catalogue& catalogue) {
  const auto cards = static_cast<int>(machine.devices.size());
  const Host& usual = machine.host;
  if (!machine.host_assumed || usual.cards == 0 || cards <= usual.cards ||
      usual.network > BytesPerSecond() || machine.has_unified_memory())
    return;
  const std::vector<const Host*> all = hosts_for(cards, catalogue);
  if (all.empty() || all.front()->cards < cards) return;
  machine.host = *all.front();
  machine.host_for_cards = true;
}

void join_boxes(std::string_view text, Machine& machine, const Catalogue& catalogue) {
  Host& host = machine.host;
  const auto cards = static_cast<int>(machine.devices.size());
  if (host.cards == 0 || cards <= host.cards) return;
  if (host.network == BytesPerSecond())
    throw std::invalid_argument(fmt::format(
        "machine '{}': {} holds {}{} and has no network to another; type one of {}; or a host of "
        "your own with `cards` in a hardware file",
        text, host.name, counted(host.cards, "card"),
        machine.host_assumed ? ", the usual host where none is given," : "",
        machines_for(machine, catalogue)));
  host.boxes = static_cast<int>(boxes_of(host, cards).count);
  const auto n = static_cast<double>(host.boxes);
  host.ram = host.boxes * host.ram;
  host.ram_bandwidth = n * host.ram_bandwidth;
  host.cores *= host.boxes;
  host.sockets *= host.boxes;
  if (!host.cpu.empty()) {
    Sockets all = parse_sockets(host.cpu, catalogue);
    all.count *= host.boxes;
    host.cpu = all.name();
  }
  host.cpu_peak = n * host.cpu_peak;
  host.disk = host.boxes * host.disk;
  host.disk_read = n * host.disk_read;
  host.power_w *= n;
}

}  // namespace headroom
