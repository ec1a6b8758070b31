#include "sweep/screen/hardware_screen.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "sweep/options/options.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

/// 80 of "a100-sxm-80gb", 0 where the name does not end so.
Size size_in_name(std::string_view name) {
  if (!name.ends_with("gb")) return 0;
  name.remove_suffix(2);
  std::size_t first = name.size();
  while (first > 0 && std::isdigit(static_cast<unsigned char>(name[first - 1])) != 0) --first;
  return whole_number(name.substr(first)).value_or(0);
}

std::string gigabytes_a_second(BytesPerSecond rate) {
  return rate.value() > 0 ? grouped(std::llround(rate.value() / 1e9)) : "";
}

bool has_words(const std::string& text, const std::vector<std::string>& words) {
  const std::string plain = lower(text);
  return std::ranges::all_of(words, [&](const auto& word) { return contains(plain, lower(word)); });
}

std::string maker_of(const Device& device) { return device.vendor.empty() ? "own" : device.vendor; }

std::vector<std::string> device_cells(const Device& d, const Catalogue& all) {
  const auto peak = d.bf16 ? d.bf16 : d.fp16;
  return {d.name,
          fmt::format("{}", sold_gigabytes(d, all)),
          gigabytes_a_second(d.bandwidth),
          peak ? three_digits(peak->value() / 1e12) : "",
          d.launched.substr(0, 4),
          d.title};
}

std::vector<std::string> processor_cells(const Processor& p) {
  return {p.name,
          fmt::format("{}", p.cores),
          p.base_clock_ghz > 0 ? fmt::format("{:.4g}", p.base_clock_ghz) : "",
          gigabytes_a_second(p.ram_bandwidth),
          three_digits(p.peak.value() / 1e12),
          p.power_w > 0 ? fmt::format("{:.4g}", p.power_w) : "",
          p.title};
}

std::vector<std::string> host_cells(const Host& h) {
  return {h.name, fmt::format("{:.0f}", std::round(real_count(h.ram) / GiB)),
          gigabytes_a_second(h.ram_bandwidth), fmt::format("{}", h.cores), h.title};
}

template <class Row>
std::vector<std::string> names_of(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const Row& each : rows) names.push_back(each.name);
  return names;
}

/// Titles are cut at the width of the screen: they repeat the name in more words.
void cut_titles(std::vector<std::vector<std::string>>& rows, std::size_t most) {
  for (auto& row : rows)
    if (text_width(row.back()) > most) row.back() = row.back().substr(0, most - 3) + "...";
}

}  // namespace

Size sold_gigabytes(const Device& device, const Catalogue& catalogue) {
  if (const Size named = size_in_name(device.name); named > 0) return named;
  const double reported = real_count(device.memory) / GiB;
  const Size nearest = std::llround(reported);
  if (device.memory_nominal) return nearest;
  constexpr double most_missing = 16.0 / 15 + 0.01;  // ECC takes a sixteenth
  Size next = 0;
  for (const Device& each : catalogue.devices) {
    const Size size = std::llround(real_count(each.memory) / GiB);
    if (each.memory_nominal && static_cast<double>(size) >= reported - 0.01 &&
        static_cast<double>(size) <= reported * most_missing && (next == 0 || size < next))
      next = size;
  }
  return next > 0 ? next : nearest;
}

Catalogue listed_hardware(const Catalogue& all, std::vector<std::string> words) {
  Catalogue some = all;
  const auto takes = [&](std::string_view kind) { return std::erase(words, kind) > 0; };
  const bool devices = takes("devices"), processors = takes("processors"), hosts = takes("hosts");
  const bool every = !devices && !processors && !hosts;
  if (!every && !devices) some.devices.clear();
  if (!every && !processors) some.processors.clear();
  if (!every && !hosts) some.hosts.clear();
  std::erase_if(some.devices, [&](const Device& d) {
    return !has_words(d.name + ' ' + d.title + ' ' + d.vendor, words);
  });
  const auto lacks_words = [&](const auto& row) {
    return !has_words(row.name + ' ' + row.title, words);
  };
  std::erase_if(some.processors, lacks_words);
  std::erase_if(some.hosts, lacks_words);
  if (!some.devices.empty() || !some.processors.empty() || !some.hosts.empty() || words.empty())
    return some;
  std::vector<std::string> known = names_of(all.devices);
  for (auto& name : names_of(all.processors)) known.push_back(std::move(name));
  for (auto& name : names_of(all.hosts)) known.push_back(std::move(name));
  throw UsageError(fmt::format(
      "no device, processor or host has '{}' in its name; nearest: {}. Your own: --hardware FILE "
      "(actions of hardware: list, show, lint, detect)",
      fmt::join(words, " "), fmt::join(nearest(words.front(), known), ", ")));
}

std::string hardware_lines(const Catalogue& some, const Catalogue& all, ListLength shown,
                           std::string_view asked) {
  constexpr int always = ScreenColumn::always;
  const std::string rest = fmt::format("… and {{}} more: headroom hardware list {}", asked);
  std::vector<std::vector<std::string>> devices, processors, hosts;
  for (const Device& each : some.devices) devices.push_back(device_cells(each, all));
  for (const Processor& each : some.processors) processors.push_back(processor_cells(each));
  for (const Host& each : some.hosts) hosts.push_back(host_cells(each));
  cut_titles(devices, 42);
  cut_titles(hosts, 54);
  std::string text, notes;
  std::size_t rows = 0;
  // A screen that has rows already has a later kind whole, or as one line that says how to list it.
  const auto add = [&](std::string_view kind, std::vector<ScreenColumn> columns,
                       const std::vector<std::vector<std::string>>& cells) {
    if (cells.empty()) return;
    rows += cells.size();
    if (shown == ListLength::few && !text.empty() && rows > screen_rows)
      notes += fmt::format("{0} {1}{2} too: headroom hardware list {1}s {3}\n", cells.size(), kind,
                           cells.size() == 1 ? "" : "s", asked);
    else
      text += (text.empty() ? "" : "\n") + list_text(columns, cells, shown, rest);
  };
  add("device",
      {{"device", false, always, {}},
       {"GB", true, always, {}},
       {"GB/s", true, always, {}},
       {"TFLOPS", true, always, {}},
       {"year", false, always, {}},
       {"", false, 1, {}}},
      devices);
  add("processor",
      {{"processor", false, always, {}},
       {"cores", true, always, {}},
       {"GHz", true, always, {}},
       {"GB/s", true, always, {}},
       {"TFLOPS", true, always, {}},
       {"W", true, always, {}},
       {"", false, 1, {}}},
      processors);
  add("host",
      {{"host", false, always, {}},
       {"RAM GiB", true, always, {}},
       {"GB/s", true, always, {}},
       {"cores", true, always, {}},
       {"", false, 1, {}}},
      hosts);
  return text + (notes.empty() ? "" : "\n") + notes;
}

std::string hardware_overview(const Catalogue& catalogue) {
  std::map<std::string, std::vector<const Device*>> by_maker;
  for (const Device& each : catalogue.devices) by_maker[maker_of(each)].push_back(&each);
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& kind, const std::vector<std::string>& names) {
    std::string examples;
    for (const std::string& name : names) {
      const std::string longer = examples + (examples.empty() ? "" : ", ") + name;
      if (text_width(longer) <= 70) examples = longer;
    }
    rows.push_back({kind, fmt::format("{}", names.size()), examples});
  };
  for (auto& [maker, devices] : by_maker) {
    std::ranges::stable_sort(devices, std::greater{}, &Device::launched);
    std::vector<std::string> names;
    for (const Device* each : devices) names.push_back(each->name);
    add(maker, names);
  }
  add("processors", names_of(catalogue.processors));
  add("hosts", names_of(catalogue.hosts));
  return fmt::format("{} devices, {} processors and {} hosts travel with the program:\n\n",
                     catalogue.devices.size(), catalogue.processors.size(),
                     catalogue.hosts.size()) +
         screen_table({{"maker", false, ScreenColumn::always, {}},
                       {"rows", true, ScreenColumn::always, {}},
                       {"newest", false, ScreenColumn::always, {}}},
                      rows) +
         "\nA machine is \"rtx-4090\", \"2x rtx-3090 @ desktop-ddr5-64gb\" or local.\n"
         "Search: headroom hardware 4090. All: headroom hardware list. One: headroom hardware show "
         "NAME.\n";
}

}  // namespace headroom::sweep
