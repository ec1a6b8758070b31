// Processors, memory and disks as sources of measurements write them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>

#include "hardware/catalogue.hpp"
#include "hardware/names.hpp"
#include "sweep/accuracy/measurement_names.hpp"
#include "sweep/accuracy/processors.hpp"

namespace headroom::sweep {
namespace {

/// The number that ends where `text` does, spaces left out; nothing where there is none.
std::optional<double> number_before(std::string_view text) {
  const auto last = text.find_last_not_of(" -");
  if (last == text.npos) return std::nullopt;
  const auto before = text.find_last_not_of("0123456789.", last);
  const auto first = before == text.npos ? 0 : before + 1;
  return first > last ? std::nullopt
                      : leading_number(std::string(text.substr(first, last - first + 1)));
}

/// What stands behind `word`, up to the next space.
std::optional<double> number_behind(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  if (at == text.npos) return std::nullopt;
  const auto first = text.find_first_not_of(" -", at + word.size());
  if (first == text.npos) return std::nullopt;
  const auto end = text.find_first_not_of("0123456789.", first);
  return leading_number(std::string(text.substr(first, std::min(end, text.size()) - first)));
}

/// Sockets of a row: "2x Xeon", "2 x EPYC", "dual EPYC", "dual socket", "2x32 cores".
int sockets_of(std::string_view cpu, std::string_view settings) {
  const auto says = [&](std::string_view word) {
    return cpu.find(word) != cpu.npos || settings.find(word) != settings.npos;
  };
  if (says("single socket") || says("one socket")) return 1;
  for (const auto word : {"dual socket", "dual-socket", "two sockets", "2 sockets"})
    if (says(word)) return 2;
  if (cpu.starts_with("2x ") || cpu.starts_with("2 x ") || cpu.starts_with("dual ")) return 2;
  int sockets = 0, cores = 0;
  const auto at = settings.find("2x");
  if (at != settings.npos &&
      std::sscanf(std::string(settings.substr(at)).c_str(), "%dx%d cores", &sockets, &cores) == 2 &&
      settings.find(" cores", at) != settings.npos)
    return sockets;
  return 1;
}

/// Modules are sold by rates; what a benchmark reaches is less than they transfer. The least rate
/// at which the processor's channels have that much, as bandwidth, GB/s: constants are shares of
/// it.
double rated_bandwidth(double measured_gbs, const Processor* processor, int sockets) {
  constexpr double ddr4[] = {2133, 2400, 2666, 2933, 3200, 3600},
                   ddr5[] = {4800, 5200, 5600, 6000, 6400};
  if (processor == nullptr) return measured_gbs;
  const std::span<const double> rates =
      processor->mts < ddr5[0] ? std::span<const double>(ddr4) : ddr5;
  for (const double mts : rates)
    if (const double gbs = sockets * processor->channels * mts * 8 / 1000; gbs >= measured_gbs)
      return gbs;
  return measured_gbs;
}

/// "measured 102 GB/s"; "24x DDR5-6400", "8 channels DDR4-3200", "quad-channel DDR4 3600": channels
/// * rate * 8 bytes. What a row says of its memory counts for more than what the maker allows.
/// Channels that are not stated are the processor's.
std::optional<double> stated_bandwidth(std::string_view text, const Processor* processor,
                                       int sockets) {
  if (const auto gbs = number_behind(text, "measured "))
    return rated_bandwidth(*gbs, processor, sockets);
  for (const std::string_view unit : {" gb/s memory", " gb/s ram", "gb/s memory", "gb/s ram"})
    if (const auto at = text.find(unit); at != text.npos)
      if (const auto gbs = number_before(text.substr(0, at))) return gbs;
  const auto ddr = text.find("ddr");
  if (ddr == text.npos) return std::nullopt;
  const auto rate = number_behind(text.substr(std::min(ddr + 4, text.size())), "");
  if (!rate || *rate < 800) return std::nullopt;
  std::string_view before = text.substr(0, ddr);
  while (before.ends_with(' ')) before.remove_suffix(1);
  if (before.find_last_of(';') != before.npos) before = before.substr(before.find_last_of(';') + 1);
  std::optional<double> channels;
  constexpr std::pair<std::string_view, int> words[] = {
      {"dual-channel", 2},  {"quad-channel", 4}, {"six-channel", 6},
      {"eight-channel", 8}, {"octa-channel", 8}, {"twelve-channel", 12}};
  for (const auto& [word, count] : words)
    if (text.find(word) != text.npos) channels = count;
  if (!channels && before.ends_with('x'))
    channels = number_before(before.substr(0, before.size() - 1));
  for (const std::string_view word : {"channels", "channel", "-channel"})
    if (const auto at = text.find(word); !channels && at != text.npos)
      channels = number_before(text.substr(0, at));
  if (!channels && processor != nullptr) channels = sockets * processor->channels;
  return channels ? std::optional(*channels * *rate * 8 / 1000) : std::nullopt;
}

/// Sequential read of kinds of disks, GB/s: what the bus of four lanes leaves after encoding, less
/// a tenth, as data sheets of fast disks have it; NVMe without a generation as PCIe 4.0, which
/// hosts since 2020 have. The first that is found counts.
struct DiskKind {
  std::string_view written;
  double gbs;
};
constexpr auto disk_kinds = std::to_array<DiskKind>({{"pcie 5.0 nvme", 14},
                                                     {"pcie gen5 nvme", 14},
                                                     {"pcie 4.0 nvme", 7},
                                                     {"pcie gen4 nvme", 7},
                                                     {"pcie 3.0 nvme", 3.5},
                                                     {"pcie gen3 nvme", 3.5},
                                                     {"nvme", 7},
                                                     {"sata ssd", 0.55},
                                                     {"hdd", 0.2}});

/// "NVMe SSD 29.4 GB/s", "disk_read=3.5 GB/s", "NVMe 5600MB/s", "3x NVMe" of one part of a text, in
/// bytes a second.
std::optional<double> disk_in(std::string_view part) {
  const auto named = [&](std::string_view word) { return part.find(word) != part.npos; };
  if (!(named("ssd") || named("nvme") || named("disk") || named("hdd"))) return std::nullopt;
  for (const auto& [unit, bytes] : {std::pair(std::string_view("gb/s"), 1e9), {"mb/s", 1e6}})
    if (const auto at = part.find(unit); at != part.npos)
      if (const auto figure = number_before(part.substr(0, at))) return *figure * bytes;
  for (const DiskKind& kind : disk_kinds) {
    const auto at = part.find(kind.written);
    if (at == part.npos) continue;
    double disks = 1;
    if (const auto times = part.rfind("x ", at); times != part.npos)
      disks = number_before(part.substr(0, times)).value_or(1);
    return disks * kind.gbs * 1e9;
  }
  return std::nullopt;
}

std::optional<double> stated_disk(const std::string& settings, const std::string& cpu) {
  const std::string text = lower(settings + ';' + cpu);
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(';', begin), text.size());
    if (const auto rate = disk_in(std::string_view(text).substr(begin, end - begin))) return rate;
    begin = end + 1;
  }
  return std::nullopt;
}

/// Of the memory of `row`, GB/s, where it says so.
std::optional<double> stated_bandwidth(const Measurement& row) {
  const std::string cpu = lower(row["cpu"]), settings = lower(row["settings"]);
  return stated_bandwidth(cpu + "; " + settings, processor_in(cpu), sockets_of(cpu, settings));
}

}  // namespace

bool states_memory_bandwidth(const Measurement& row) { return stated_bandwidth(row).has_value(); }

Host host_of(const Measurement& row) {
  Host host = shipped_catalogue().host(shipped_catalogue().default_host);
  host.cards = 0;  // as many as the row has
  host.name = row["cpu"].empty() ? "not stated" : row["cpu"];
  host.ram_bandwidth = BytesPerSecond(0);
  host.host_bus = BytesPerSecond(0);  // the card's own
  host.card_link = BytesPerSecond(0);
  host.disk_read = BytesPerSecond(stated_disk(row["settings"], row["cpu"]).value_or(0));
  host.disk = Bytes(Size{1} << 50);
  const std::string& stated = row["ram_gb"].empty() ? row["cpu_ram_gb"] : row["ram_gb"];
  const auto ram = leading_number(stated);
  host.ram = ram ? Bytes(static_cast<Size>(*ram * GiB)) : Bytes(Size{1} << 44);
  const std::string cpu = lower(row["cpu"]), settings = lower(row["settings"]);
  const Processor* processor = processor_in(cpu);
  host.sockets = sockets_of(cpu, settings);
  const auto bandwidth = stated_bandwidth(row);
  if (bandwidth) host.ram_bandwidth = BytesPerSecond(*bandwidth * 1e9);
  host.cpu_peak = FlopsPerSecond(0);
  if (processor == nullptr) return host;
  // Threads run on performance cores first: as many of them as have the peak of all.
  const double fast = processor->performance_gflops;
  host.cores = host.sockets * (fast > 0 ? static_cast<int>(std::lround(processor->gflops / fast))
                                        : processor->cores);
  host.cpu_peak = FlopsPerSecond(host.sockets * processor->gflops * 1e9);
  if (!bandwidth)
    host.ram_bandwidth = BytesPerSecond(host.sockets * processor->bandwidth_gbs() * 1e9);
  return host;
}

}  // namespace headroom::sweep
