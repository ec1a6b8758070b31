// Cards, processors and memory as sources of measurements write them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <regex>

#include "hardware/catalogue.hpp"
#include "hardware/names.hpp"
#include "sweep/accuracy/measurement_names.hpp"

namespace headroom::sweep {
namespace {

/// What a source means that does not say which form of a card it has.
struct CardName {
  std::string_view written, device;
};
constexpr auto card_names = std::to_array<CardName>({{"a100", "a100-sxm-80gb"},
                                                     {"a100 80gb", "a100-sxm-80gb"},
                                                     {"a100 40gb", "a100-sxm-40gb"},
                                                     {"h100", "h100-sxm-80gb"},
                                                     {"v100", "v100-sxm-32gb"},
                                                     {"rtx 4060 ti", "rtx-4060-ti-16gb"},
                                                     {"rtx 5060 ti", "rtx-5060-ti-16gb"}});

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// "HBM2e", "2.4TB/s", "500W": what a card has, no part of its name.
bool is_feature(std::string_view word) {
  const auto digits = word.find_first_not_of("0123456789.");
  const std::string_view unit = word.substr(std::min(digits, word.size()));
  return word.starts_with("hbm") || word.starts_with("gddr") ||
         (digits > 0 && (unit == "tb/s" || unit == "gb/s" || unit == "w"));
}

/// A name of a card without remarks, features, sizes and counts of cores; sizes go to `gib`.
std::string plain_card(std::string text, std::optional<double>& gib) {
  replace_all(text, "\xE2\x80\x91", "-");  // a non-breaking hyphen
  replace_all(text, "_", " ");
  std::string remark;
  for (auto open = text.find('('); open != std::string::npos; open = text.find('(')) {
    const auto close = std::min(text.find(')', open), text.size() - 1);
    remark += ' ' + text.substr(open + 1, close - open - 1);
    text.erase(open, close - open + 1);
  }
  std::string plain;
  std::string rest = lower(text + remark) + ' ';
  const std::size_t named = text.size();
  std::size_t start = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] != ' ') continue;
    const std::string word = rest.substr(start, i - start);
    const std::string next = rest.substr(i + 1, rest.find(' ', i + 1) - i - 1);
    const auto size = leading_number(word);
    const std::string_view unit =
        std::string_view(word).substr(std::min(word.find_first_not_of("0123456789."), word.size()));
    const bool alone = unit.empty() && (next == "gib" || next == "gb");
    if (size && (alone || unit == "gb" || unit == "g" || unit == "gib"))
      gib = *size;
    else if (start < named && !word.empty() && word != "gpu" && word != "gib" &&
             !word.ends_with("-core") && !is_feature(word))
      plain += (plain.empty() ? "" : " ") + word;
    start = i + 1;
  }
  return plain;
}

/// Rows called `name`-16gb, `name`-32gb …: the stated size, else the largest, since a run that is
/// reported has fitted.
const Device* of_some_size(const Catalogue& catalogue, std::string name,
                           std::optional<double> gib) {
  std::ranges::replace(name, ' ', '-');
  if (name.starts_with("apple-")) name.erase(0, 6);
  const Device* found = nullptr;
  for (const Device& device : catalogue.devices) {
    if (!device.name.starts_with(name + "-") || !device.name.ends_with("gb")) continue;
    if (device.name.find_first_not_of("0123456789", name.size() + 1) != device.name.size() - 2)
      continue;
    const double size = device.memory.real().value() / GiB;
    if (gib && std::abs(size - *gib) < 0.1 * size) return &device;
    if (!found || device.memory > found->memory) found = &device;
  }
  return found;
}

Device device_of(const std::string& text, std::optional<double> stated) {
  const Catalogue& catalogue = shipped_catalogue();
  std::optional<double> gib;
  const std::string plain = plain_card(text, gib);
  if (stated) gib = stated;
  const auto find = [&](const std::string& name) -> const Device* {
    for (const CardName& form : card_names)
      if (spelling(form.written) == spelling(name)) return &catalogue.device(form.device);
    try {
      return &catalogue.device(name);
    } catch (const UnknownName&) {
      return nullptr;
    }
  };
  const Device* found = gib ? find(fmt::format("{} {}gb", plain, std::lround(*gib))) : nullptr;
  if (!found && gib) found = find(fmt::format("{} sxm {}gb", plain, std::lround(*gib)));
  if (!found) found = find(plain);
  if (!found) found = of_some_size(catalogue, plain, gib);
  // A box that is called after its cards: "DGX-H100".
  if (constexpr std::string_view box = "dgx-"; !found && plain.find(box) != plain.npos)
    return device_of(plain.substr(plain.find(box) + box.size()), stated);
  if (!found) throw Skipped(Skip::device, fmt::format("no card '{}' in the catalogue", text));
  Device device = *found;
  // A figure with decimals is a driver's; a whole one is a nominal size, and counts where it is not
  // the catalogue's (cards with exchanged memory).
  const double catalogued = device.memory.real().value() / GiB;
  if (gib && (*gib != std::floor(*gib) || std::abs(catalogued - *gib) > *gib / 12))
    device.memory = Bytes(static_cast<Size>(*gib * GiB));
  return device;
}

/// Cards of several nodes, where the row says so, meet over the network of the boxes that they
/// usually sit in.
void deal_to_nodes(Machine& machine, const std::string& settings) {
  static const std::regex written(R"((\d+) nodes)");
  std::smatch found;
  if (!std::regex_search(settings, found, written) || machine.devices.front().host.empty()) return;
  const Host& usual = shipped_catalogue().host(machine.devices.front().host);
  const int nodes = std::stoi(found[1]), cards = static_cast<int>(machine.devices.size());
  if (nodes < 2 || cards % nodes != 0 || usual.network == BytesPerSecond()) return;
  machine.host.cards = cards / nodes;
  machine.host.boxes = nodes;
  machine.host.network = usual.network;
}

}  // namespace

Machine any_machine(int cards) {
  Machine machine;
  machine.name = "any";
  Device card;
  card.name = "any";
  card.memory = Bytes(Size{1} << 50);
  card.bandwidth = card.host_bus = BytesPerSecond(1e12);
  card.fp32 = card.fp16 = card.bf16 = FlopsPerSecond(1e14);
  machine.devices.assign(static_cast<std::size_t>(std::clamp(cards, 1, 1024)), card);
  machine.host = shipped_catalogue().host(shipped_catalogue().default_host);
  machine.host.cards = 0;
  return machine;
}

Machine machine_of(const Measurement& row) {
  Machine machine;
  machine.host = host_of(row);
  machine.ram_assumed = !states_memory_bandwidth(row);
  const std::string& text = row["gpu"];
  const auto count = row.number("gpu_count");
  if (!row["gpu_count"].empty() && !count)
    throw Skipped(Skip::setting, fmt::format("gpu_count is '{}'", row["gpu_count"]));
  const bool none = text.empty() || text == "-" || lower(text).starts_with("none");
  if (none && count.value_or(0) > 0) throw Skipped(Skip::device, "no card is named");
  if (!none) {
    std::string rest = text;
    std::vector<Device> cards;
    while (!rest.empty()) {
      const auto plus = std::min(rest.find(" + "), rest.size());
      cards.push_back(device_of(rest.substr(0, plus), row.number("gpu_memory_gb")));
      rest.erase(0, plus + 3);
    }
    const auto n = static_cast<std::size_t>(count.value_or(1));
    if (n < 1 || n > 1024) throw Skipped(Skip::setting, "gpu_count " + row["gpu_count"]);
    for (std::size_t i = 0; i < std::max(n, cards.size()); ++i)
      machine.devices.push_back(cards[i % cards.size()]);
    deal_to_nodes(machine, lower(row["settings"]));
  }
  machine.name = machine.canonical_name();
  return machine;
}

}  // namespace headroom::sweep
