// Reads the rows of the catalogue. Key names contain their units: GB/s, TFLOPS, W. Memory is in MiB
// (as the driver reports it) or GiB (nominal).
#include "hardware/catalogue_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

constexpr Limit max_gib{1e6};
constexpr Limit max_mib{1e9};
constexpr Limit max_gb{1e7};
constexpr Limit max_gbs{1e6};
constexpr Limit max_tflops{1e6};
constexpr Limit max_watts{1e6};
constexpr Limit max_dollars{1e7};
constexpr Limit max_cores{1e5};
constexpr Limit max_gigahertz{1e2};
constexpr Limit max_flops_a_cycle{1e4};

Bytes whole(double count, double unit) {
  return Bytes(static_cast<std::int64_t>(std::floor(count * unit)));
}

void take(std::optional<double> gigabytes, BytesPerSecond& into) {
  if (gigabytes) into = BytesPerSecond(*gigabytes * 1e9);
}
void take(std::optional<double> tera, std::optional<FlopsPerSecond>& into) {
  if (tera) into = FlopsPerSecond(*tera * 1e12);
}
void take(std::optional<std::string> text, std::string& into) {
  if (text) into = std::move(*text);
}

void take(TomlRow& row, std::string_view key, std::optional<double> count, int& into) {
  if (!count) return;
  if (*count != std::floor(*count)) row.fail(key, "expected a whole number");
  into = static_cast<int>(*count);
}

/// The row's own sources in full, then those of the row that it is based on.
std::string source_of(TomlRow& row, const Sources& sources, std::string_view file,
                      const std::string* base_name, const std::string* base_source) {
  std::vector<std::string> cited = row.texts("source");
  for (std::string& each : cited)
    if (const auto known = sources.find(each); known != sources.end()) each = known->second;
  if (cited.empty()) cited.emplace_back(file);
  std::string result = fmt::format("{}", fmt::join(cited, "; "));
  if (base_name != nullptr) result += fmt::format("; the rest as {}: {}", *base_name, *base_source);
  return result;
}

/// A row states its power or why that is unknown. Either replaces what its base states.
template <class Fact>
void read_power(TomlRow& row, Fact& fact) {
  const auto watts = row.number("power_w", max_watts);
  auto reason = row.text("power_unknown");
  if (watts && reason)
    row.fail("power_unknown", "found together with power_w; give one of the two");
  if (watts == 0)
    row.fail("power_w", "found 0; expected a number above 0, or power_unknown = \"the reason\"");
  if (!watts && !reason) return;
  fact.power_w = watts.value_or(0);
  fact.power_unknown = std::move(reason).value_or("");
}

/// Keys of this row whose figures are unchecked, and those of its base that the row does not give.
std::vector<std::string> read_unchecked(TomlRow& row, const std::vector<std::string>& of_base) {
  std::vector<std::string> keys = row.texts("unchecked");
  for (const std::string& key : keys)
    if (!row.has(key))
      row.fail("unchecked", fmt::format("found '{}'; expected a key of this row", key));
  for (const std::string& key : of_base)
    if (!row.has(key)) keys.push_back(key);
  return keys;
}

/// Reads the keys that all kinds of rows share.
template <class Fact>
void read_identity(TomlRow& row, const RowContext<Fact>& context, Fact& fact) {
  const Fact* base = context.base;
  if (base != nullptr) fact = *base;
  fact.name = row.required_text("name");
  row.text("based_on");
  fact.title = row.text("title").value_or(fact.name);
  fact.aliases = row.texts("aliases");
  fact.source = source_of(row, context.sources, context.file, base ? &base->name : nullptr,
                          base ? &base->source : nullptr);
  take(row.text("date"), fact.date);
  read_power(row, fact);
  fact.unchecked = read_unchecked(row, fact.unchecked);
}

void read_memory(TomlRow& row, Device& device) {
  const auto reported = row.positive("memory_mib", max_mib);
  const auto nominal = row.positive("memory_gib", max_gib);
  if (reported && nominal)
    row.fail("memory_gib", "found together with memory_mib; give one of the two");
  if (reported) device.memory = whole(*reported, MiB);
  if (nominal) device.memory = whole(*nominal, GiB);
  const auto visible = row.positive("visible_mib", max_mib);
  if (reported || nominal) {
    device.memory_nominal = nominal.has_value();
    device.visible = Bytes(0);
  }
  if (visible) device.visible = whole(*visible, MiB);
  take(row.text("visible_needs"), device.visible_needs);
  if (device.memory == Bytes())
    row.fail("memory_mib",
             "missing; expected memory_mib (as the driver reports it) or memory_gib (nominal)");
  if (device.visible > device.memory)
    row.fail("visible_mib", "beyond the memory of the card; expected what a program sees of it");
}

void read_peaks(TomlRow& row, Device& device) {
  take(row.positive("fp32_tflops", max_tflops), device.fp32);
  take(row.positive("tf32_tflops", max_tflops), device.tf32);
  take(row.positive("fp16_tflops", max_tflops), device.fp16);
  take(row.positive("bf16_tflops", max_tflops), device.bf16);
  take(row.positive("fp8_tflops", max_tflops), device.fp8);
  take(row.positive("int8_tops", max_tflops), device.int8);
  take(row.positive("fp4_tflops", max_tflops), device.fp4);
  if (!device.fp32 && !device.fp16 && !device.bf16)
    row.fail("fp16_tflops",
             "missing; expected at least one of fp32_tflops, fp16_tflops and bf16_tflops (dense)");
}

std::vector<Conflict> read_conflicts(TomlRow& row, const Sources& sources, std::string_view file) {
  std::vector<Conflict> result;
  for (const toml::table* table : row.tables("conflicts")) {
    TomlRow each(*table, file);
    Conflict conflict{each.required_text("key"), each.required_text("kept"),
                      each.required_text("other"), each.required_text("source")};
    each.finish();
    if (const auto known = sources.find(conflict.source); known != sources.end())
      conflict.source = known->second;
    result.push_back(std::move(conflict));
  }
  return result;
}

/// Figures of a host that its processors' row states, with the keys there that they follow from.
struct Follows {
  std::string_view key;
  std::vector<std::string_view> from;
};
const std::vector<Follows>& figures_of_processors() {
  static const std::vector<Follows> all = {
      {"ram_bandwidth_gbs", {"ram_bandwidth_gbs"}},
      {"cores", {"cores"}},
      {"sockets", {}},
      {"cpu_tflops", {"cores", "base_clock_ghz", "flops_a_cycle", "cpu_tflops"}}};
  return all;
}

/// The figures that the row takes from its processors' row, with their source and what no page has
/// confirmed. A row that gives other cores without a `cpu` is of other processors than its base.
void read_cpu(TomlRow& row, const RowContext<Host>& context, Host& host) {
  const auto text = row.text("cpu");
  if (!text) {
    if (row.has("cores") || row.has("sockets") || row.has("cpu_tflops")) host.cpu.clear();
    return;
  }
  Sockets sockets;
  try {
    sockets = parse_sockets(*text, context.catalogue);
  } catch (const std::exception& error) {
    row.fail("cpu", error.what());
  }
  set_processors(sockets, host);
  const Processor& processor = sockets.processor;
  std::vector<std::string> unchecked;
  for (const auto& [key, from] : figures_of_processors()) {
    if (row.has(key)) continue;
    std::erase(host.unchecked, key);
    if (std::ranges::any_of(processor.unchecked, [&](const std::string& each) {
          return std::ranges::find(from, each) != from.end();
        }))
      unchecked.emplace_back(key);
  }
  host.unchecked.insert(host.unchecked.begin(), unchecked.begin(), unchecked.end());
  host.source = fmt::format("CPU as {}: {}; {}", processor.name, processor.source, host.source);
}

}  // namespace

Device read_device(TomlRow& row, const RowContext<Device>& context) {
  Device device;
  read_identity(row, context, device);
  take(row.text("vendor"), device.vendor);
  read_memory(row, device);
  device.unified_memory = row.flag("unified_memory").value_or(device.unified_memory);
  take(context.base ? row.positive("bandwidth_gbs", max_gbs)
                    : row.required_positive("bandwidth_gbs", max_gbs),
       device.bandwidth);
  read_peaks(row, device);
  take(row.number("link_gbs", max_gbs), device.link);
  take(row.text("link_kind"), device.link_kind);
  device.peer_access = row.flag("peer_access").value_or(device.peer_access);
  if (device.link == BytesPerSecond() && !row.has("link_kind")) device.link_kind.clear();
  take(row.positive("host_bus_gbs", max_gbs), device.host_bus);
  take(row.text("host_bus_kind"), device.host_bus_kind);
  if (const auto text = row.text("compute_capability")) {
    device.compute_capability = parse_compute_capability(*text);
    if (!device.compute_capability)
      row.fail("compute_capability", "expected two numbers with a point between them, as \"9.0\"");
  }
  if (auto text = row.text("architecture")) {
    if (!text->starts_with("gfx")) row.fail("architecture", "expected LLVM's name, as \"gfx942\"");
    device.architecture = std::move(*text);
  }
  device.tensor_cores = row.flag("tensor_cores").value_or(device.tensor_cores);
  device.power_includes_host = row.flag("power_includes_host").value_or(device.power_includes_host);
  take(row, "multiprocessors", row.positive("multiprocessors", max_cores), device.multiprocessors);
  take(row.text("host"), device.host);
  take(row.text("launched"), device.launched);
  if (const auto price = row.positive("list_price_usd", max_dollars)) device.list_price_usd = price;
  std::erase_if(device.conflicts, [&](const Conflict& each) { return row.has(each.key); });
  for (Conflict& each : read_conflicts(row, context.sources, context.file))
    device.conflicts.push_back(std::move(each));
  row.finish();
  return device;
}

Processor read_processor(TomlRow& row, const RowContext<Processor>& context) {
  const auto needed = [&](std::string_view key, Limit limit) {
    return context.base ? row.positive(key, limit) : row.required_positive(key, limit);
  };
  Processor processor;
  read_identity(row, context, processor);
  take(row, "cores", needed("cores", max_cores), processor.cores);
  take(needed("ram_bandwidth_gbs", max_gbs), processor.ram_bandwidth);
  const auto clock = row.positive("base_clock_ghz", max_gigahertz);
  const auto flops = row.positive("flops_a_cycle", max_flops_a_cycle);
  const auto peak = row.positive("cpu_tflops", max_tflops);
  if (peak && (clock || flops))
    row.fail("cpu_tflops",
             "found together with base_clock_ghz or flops_a_cycle; give the peak or these two");
  processor.base_clock_ghz = peak ? 0 : clock.value_or(processor.base_clock_ghz);
  processor.flops_a_cycle = peak ? 0 : flops.value_or(processor.flops_a_cycle);
  const double of_core = processor.flops_a_cycle * std::round(processor.base_clock_ghz * 1e9);
  if (peak)
    processor.peak = FlopsPerSecond(*peak * 1e12);
  else if (of_core > 0)
    processor.peak = FlopsPerSecond(processor.cores * of_core);
  else if (context.base == nullptr || clock || flops || row.has("cores"))
    row.fail("cpu_tflops", "missing; expected cpu_tflops, or base_clock_ghz and flops_a_cycle");
  row.finish();
  return processor;
}

Host read_host(TomlRow& row, const RowContext<Host>& context) {
  const auto needed = [&](std::string_view key, Limit limit) {
    return context.base ? row.positive(key, limit) : row.required_positive(key, limit);
  };
  Host host;
  read_identity(row, context, host);
  read_cpu(row, context, host);
  const auto of_cpu = [&](std::string_view key, Limit limit) {
    return host.cpu.empty() ? needed(key, limit) : row.positive(key, limit);
  };
  const auto binary = row.positive("ram_gib", max_gib);
  const auto decimal = row.positive("ram_gb", max_gib);
  if (binary && decimal) row.fail("ram_gb", "found together with ram_gib; give one of the two");
  if (binary) host.ram = whole(*binary, GiB);
  if (decimal) host.ram = whole(*decimal, 1e9);
  if (host.ram == Bytes()) row.fail("ram_gib", "missing; expected ram_gib or ram_gb");
  take(of_cpu("ram_bandwidth_gbs", max_gbs), host.ram_bandwidth);
  const int cores_of_cpu = host.cores;
  take(row, "cores", of_cpu("cores", max_cores), host.cores);
  if (row.has("cpu")) host.cpu_peak *= static_cast<double>(host.cores) / cores_of_cpu;
  take(row, "sockets", row.positive("sockets", max_cores), host.sockets);
  if (const auto peak = of_cpu("cpu_tflops", max_tflops))
    host.cpu_peak = FlopsPerSecond(*peak * 1e12);
  take(needed("host_bus_gbs", max_gbs), host.host_bus);
  if (const auto disk = needed("disk_gb", max_gb)) host.disk = whole(*disk, 1e9);
  take(needed("disk_read_gbs", max_gbs), host.disk_read);
  take(row.text("disk_kind"), host.disk_kind);
  take(row.number("card_link_gbs", max_gbs), host.card_link);
  take(row.number("network_gbs", max_gbs), host.network);
  if (const auto cards = row.positive("cards", max_cores)) {
    if (*cards != std::floor(*cards)) row.fail("cards", "expected a whole number");
    host.cards = static_cast<int>(*cards);
  }
  row.finish();
  return host;
}

}  // namespace headroom
