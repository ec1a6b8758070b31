// Prices of a machine: its own, or the sum over its cards and host.
#include <algorithm>
#include <vector>

#include "hardware/machine.hpp"
#include "hardware/price.hpp"

namespace headroom {
namespace {

/// The row of a whole machine, and how many of it `machine` is: itself, or equal boxes.
struct Whole {
  const Price* row = nullptr;
  int times = 1;
};

Whole whole(const Prices& prices, const Machine& machine) {
  if (const Price* own = prices.find(Price::Of::machine, machine.name)) return {own, 1};
  const auto boxes = static_cast<std::size_t>(std::max(1, machine.host.boxes));
  const std::size_t cards = machine.devices.size() / boxes;
  if (boxes == 1 || cards * boxes != machine.devices.size()) return {};
  for (std::size_t i = cards; i < machine.devices.size(); ++i)
    if (machine.devices[i].name != machine.devices[i - cards].name) return {};
  Machine box = machine;
  box.devices.resize(cards);
  return {prices.find(Price::Of::machine, box.canonical_name()), machine.host.boxes};
}

/// `of` of the machine or its equal boxes, else of its host and cards. A card without `buy` has its
/// list price.
std::optional<double> owned_price(const Prices& prices, const Machine& machine,
                                  std::optional<double> Price::*of) {
  if (const auto [row, times] = whole(prices, machine); row != nullptr && row->*of)
    return times * *(row->*of);
  const Price* host = prices.find(Price::Of::host, machine.host.name);
  if (host == nullptr || !(host->*of)) return std::nullopt;
  double sum = machine.host.boxes * *(host->*of);
  for (const Device& each : machine.devices) {
    const Price* price = prices.find(Price::Of::device, each.name);
    if (price != nullptr && price->*of)
      sum += *(price->*of);
    else if (of == &Price::buy && each.list_price_usd)
      sum += *each.list_price_usd * prices.per_usd;
    else
      return std::nullopt;
  }
  return sum;
}

}  // namespace

const Price* rent_row(const Prices& prices, const Machine& machine) {
  if (!rent_per_hour(prices, machine)) return nullptr;
  const Price* row = whole(prices, machine).row;
  if (row != nullptr && row->rent_per_hour) return row;
  return machine.devices.empty() ? prices.find(Price::Of::host, machine.host.name)
                                 : prices.find(Price::Of::device, machine.devices.front().name);
}

bool rents_unknown_host(const Prices& prices, const Machine& machine) {
  const Price* row = rent_row(prices, machine);
  return row != nullptr && !row->names_host;
}

std::optional<double> purchase_price(const Prices& prices, const Machine& machine) {
  return owned_price(prices, machine, &Price::buy);
}
std::optional<double> used_price(const Prices& prices, const Machine& machine) {
  return owned_price(prices, machine, &Price::used);
}

std::optional<double> rent_per_hour(const Prices& prices, const Machine& machine) {
  if (const auto [row, times] = whole(prices, machine); row != nullptr && row->rent_per_hour)
    return times * *row->rent_per_hour;
  if (machine.devices.empty()) {
    const Price* host = prices.find(Price::Of::host, machine.host.name);
    return host == nullptr ? std::nullopt : host->rent_per_hour;
  }
  double sum = 0;
  for (const Device& each : machine.devices) {
    const Price* price = prices.find(Price::Of::device, each.name);
    if (price == nullptr || !price->rent_per_hour) return std::nullopt;
    sum += *price->rent_per_hour;
  }
  return sum;
}

}  // namespace headroom
