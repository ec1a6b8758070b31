#include "sweep/accuracy/row_machine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/card_list.hpp"
#include "hardware/catalogue.hpp"
#include "hardware/names.hpp"
#include "hardware/text.hpp"

namespace headroom::sweep {
namespace {

/// A card without limits. Bytes that are used do not depend on the card.
Device any_card() {
  Device card;
  card.name = "any";
  set_memory(card, ample);
  card.bandwidth = card.host_bus = BytesPerSecond(1e12);
  card.fp32 = card.fp16 = card.bf16 = FlopsPerSecond(1e14);
  return card;
}

/// "2x rtx-4090 + 1x any".
std::vector<Device> cards_in(std::string_view part) {
  Catalogue with_any = {.devices = {any_card()}, .processors = {}, .hosts = {}, .default_host = {}};
  const Catalogue& catalogue = part.ends_with("x any") ? with_any : shipped_catalogue();
  try {
    return parse_cards(part, catalogue);
  } catch (const std::invalid_argument& e) {
    throw Skipped(Skip::device, e.what());
  } catch (const UnknownName& e) {
    throw Skipped(Skip::device, e.what());
  }
}

/// Sets the size that a row states. Less than the driver's figure is what the program saw.
void state_memory(Device& card, Bytes stated) {
  constexpr double printed = 0.999;  // sizes are printed with two digits
  if (!card.unified_memory && stated.real() < printed * card.memory.real())
    set_memory(card, stated);
  else if (card.unified_memory || stated > card.memory) {
    card.memory = stated;
    card.visible = Bytes(0);
  }
}

std::vector<Device> cards_of(const Measurement& row) {
  std::vector<Device> cards;
  if (row["machine"] == "cpu") return cards;
  if (row["machine"].empty()) throw Skipped(Skip::device, "no machine is named");
  const auto parts = split(row["machine"], '+'), sizes = split(row["card_gib"], '+');
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (Device& card : cards_in(parts[i])) {
      if (const auto gib = i < sizes.size() ? leading_number(sizes[i]) : std::nullopt)
        state_memory(card, Bytes(static_cast<Size>(*gib * GiB)));
      cards.push_back(std::move(card));
    }
  return cards;
}

const Host& usual_host(const Device& card) {
  const Catalogue& catalogue = shipped_catalogue();
  return catalogue.host(card.host.empty() ? catalogue.default_host : card.host);
}

/// Cards of several nodes meet over the network of the boxes that they usually sit in.
void deal_to_nodes(Machine& machine, int nodes) {
  const Host& usual = usual_host(machine.devices.front());
  const int cards = static_cast<int>(machine.devices.size());
  if (nodes < 2 || cards % nodes != 0 || usual.network == BytesPerSecond()) return;
  machine.host.cards = cards / nodes;
  machine.host.boxes = nodes;
  machine.host.network = usual.network;
}

/// Drivers name cards without their memory: "Apple M2 Ultra".
bool may_be(std::string_view written, const Device& card) {
  try {
    return shipped_catalogue().device(written).name == card.name;
  } catch (const UnknownName&) {
    return contains(spelling(card.name), spelling(written));
  } catch (const std::invalid_argument&) {
    return contains(spelling(card.name), spelling(written));
  }
}

}  // namespace

Host host_of(const Measurement& row) {
  Host host = shipped_catalogue().host(shipped_catalogue().default_host);
  const auto billions = [&](std::string_view column) {
    return row.number(column).value_or(0) * 1e9;
  };
  host.cards = 0;  // as many as the row has
  host.name = row["host"].empty() ? "not stated" : row["host"];
  host.ram_bandwidth = BytesPerSecond(billions("ram_gbs"));
  host.host_bus = BytesPerSecond(0);  // the card's own
  host.card_link = BytesPerSecond(0);
  host.disk_read = BytesPerSecond(billions("disk_read_gbs"));
  host.disk = ample;
  const auto ram = row.number("ram_gib");
  host.ram = ram ? Bytes(static_cast<Size>(*ram * GiB)) : Bytes(Size{1} << 44);
  host.sockets = static_cast<int>(row.number("sockets").value_or(1));
  host.cpu_peak = FlopsPerSecond(billions("cpu_gflops"));
  if (const auto cores = row.number("cores")) host.cores = static_cast<int>(*cores);
  return host;
}

Machine machine_of(const Measurement& row) {
  Machine machine;
  machine.host = host_of(row);
  machine.ram_assumed = !row.says("ram_gbs_stated");
  machine.devices = cards_of(row);
  if (const auto nodes = row.number("nodes"); nodes && !machine.devices.empty())
    deal_to_nodes(machine, static_cast<int>(*nodes));
  machine.name = machine.canonical_name();
  return machine;
}

Machine boxed_machine_of(const Measurement& row) {
  Machine machine = machine_of(row);
  if (machine.devices.empty()) throw Skipped(Skip::device, "no card is named");
  const Host& usual = usual_host(machine.devices.front());
  machine.host.cards = usual.network > BytesPerSecond() ? usual.cards : 0;
  machine.host.boxes = 1;
  machine.host.network = usual.network;
  machine.host.ram_bandwidth = usual.ram_bandwidth;
  if (const auto network = row.number("network_gbs"))
    machine.host.network = BytesPerSecond(*network * 1e9);
  if (const auto nodes = row.number("nodes"); nodes && machine.host.cards > 0)
    machine.host.cards = static_cast<int>(
        std::max<std::size_t>(1, machine.devices.size() / static_cast<std::size_t>(*nodes)));
  return machine;
}

Machine machine_of(const Measurement& row, const Machine& measured_on) {
  Machine stated = measured_on;
  if (row["machine"] == "cpu") stated.devices.clear();
  if (row["machine"].empty() || stated.devices.empty()) return stated;
  std::size_t count = 0;
  bool same = true;
  for (const std::string_view part : split(row["machine"], '+')) {
    const auto [n, name] = counted_cards(part);
    for (int i = 0; i < n; ++i, ++count)
      same = same && count < stated.devices.size() && may_be(name, stated.devices[count]);
  }
  if (!same || count != stated.devices.size())
    throw Skipped(Skip::device,
                  fmt::format("measured on {}, not on {}", row["machine"], measured_on.name));
  return stated;
}

}  // namespace headroom::sweep
