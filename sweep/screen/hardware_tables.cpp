// Tables of `headroom hardware`: the catalogue and this computer.
#include "sweep/screen/hardware_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/machine.hpp"
#include "hardware/names.hpp"

namespace headroom::sweep {
namespace {

report::Value text_or_none(const std::string& text) {
  return text.empty() ? report::Value() : report::Value(text);
}
report::Value positive(double value) { return value > 0 ? report::Value(value) : report::Value(); }
report::Value rate(BytesPerSecond value) { return positive(value.value()); }
report::Value flops(const std::optional<FlopsPerSecond>& value) {
  return value ? positive(value->value()) : report::Value();
}
report::Value bytes(Bytes value) {
  return value > Bytes(0) ? report::Value(value.count()) : report::Value();
}

class Properties {
 public:
  explicit Properties(report::Table& table) : table_(table) {}
  void of(const Device& d) {
    name_ = d.name;
    row("title", d.title);
    row("vendor", d.vendor);
    row("aliases", fmt::format("{}", fmt::join(d.aliases, ", ")));
    row("memory_bytes", bytes(d.memory));
    row("memory_is", std::string(d.memory_nominal ? "nominal" : "what the driver reports"));
    row("visible_bytes", bytes(usable_memory(d)));
    row("bandwidth_bytes_s", rate(d.bandwidth));
    row("fp32_flops_s", flops(d.fp32));
    row("tf32_flops_s", flops(d.tf32));
    row("fp16_flops_s", flops(d.fp16));
    row("bf16_flops_s", flops(d.bf16));
    row("fp8_flops_s", flops(d.fp8));
    row("int8_ops_s", flops(d.int8));
    row("fp4_flops_s", flops(d.fp4));
    row("link", d.link_kind);
    row("link_bytes_s", rate(d.link));
    row("host_bus", d.host_bus_kind);
    row("host_bus_bytes_s", rate(d.host_bus));
    if (!d.peer_access) row("peer_access", std::string("none over the host bus"));
    row("power_w", positive(d.power_w));
    if (d.power_w > 0 && d.power_includes_host) row("power_is", std::string("of card and host"));
    row("power_unknown", d.power_unknown);
    row("visible_needs", d.visible_needs);
    row("compute_capability", to_string(d.compute_capability));
    row("architecture", d.architecture);
    if (!d.tensor_cores) row("tensor_cores", std::string("none: their instructions are emulated"));
    if (d.multiprocessors > 0) row("multiprocessors", std::int64_t{d.multiprocessors});
    row("launched", d.launched);
    row("list_price_usd", d.list_price_usd ? positive(*d.list_price_usd) : report::Value());
    row("source", d.source);
    row("date", d.date);
    row("unchecked", fmt::format("{}", fmt::join(d.unchecked, ", ")));
    for (const auto& c : d.conflicts)
      row("conflict", fmt::format("{}: {} kept, {} in {}", c.key, c.kept, c.other, c.source));
  }
  void of(const Processor& p) {
    name_ = p.name;
    row("title", p.title);
    row("aliases", fmt::format("{}", fmt::join(p.aliases, ", ")));
    row("cores", std::int64_t{p.cores});
    row("base_clock_hz", positive(p.base_clock_ghz * 1e9));
    row("fp32_flops_a_cycle", positive(p.flops_a_cycle));
    row("cpu_fp32_flops_s", positive(p.peak.value()));
    row("ram_bandwidth_bytes_s", rate(p.ram_bandwidth));
    row("power_w", positive(p.power_w));
    row("power_unknown", p.power_unknown);
    row("source", p.source);
    row("date", p.date);
    row("unchecked", fmt::format("{}", fmt::join(p.unchecked, ", ")));
  }
  void of(const Host& h) {
    name_ = h.name;
    row("title", h.title);
    row("aliases", fmt::format("{}", fmt::join(h.aliases, ", ")));
    row("ram_bytes", bytes(h.ram));
    row("ram_bandwidth_bytes_s", rate(h.ram_bandwidth));
    row("cpu", h.cpu);
    row("cores", std::int64_t{h.cores});
    if (h.sockets > 1) row("sockets", std::int64_t{h.sockets});
    row("cpu_fp32_flops_s", positive(h.cpu_peak.value()));
    row("host_bus_bytes_s", rate(h.host_bus));
    row("disk", h.disk_kind);
    row("disk_bytes", bytes(h.disk));
    row("disk_read_bytes_s", rate(h.disk_read));
    row("card_link_bytes_s", rate(h.card_link));
    row("network_bytes_s", rate(h.network));
    if (h.cards > 0) row("cards", std::int64_t{h.cards});
    row("power_w", positive(h.power_w));
    row("power_unknown", h.power_unknown);
    row("source", h.source);
    row("date", h.date);
    row("unchecked", fmt::format("{}", fmt::join(h.unchecked, ", ")));
  }

 private:
  void row(std::string property, report::Value value) {
    const auto* text = std::get_if<std::string>(&value);
    if (std::holds_alternative<std::monostate>(value) || (text && text->empty())) return;
    table_.rows.push_back({name_, std::move(property), std::move(value)});
  }
  report::Table& table_;
  std::string name_;
};

/// True where some row has the name: `find` throws UnknownName where none has.
template <class Find>
bool known(Find find) {
  try {
    find();
    return true;
  } catch (const UnknownName&) {
    return false;
  }
}

/// True for a processor's name, and for one that is no device's and nearest to a processor's.
bool means_processor(const std::string& name, const Catalogue& catalogue) {
  if (known([&] { catalogue.device(name); })) return false;
  if (known([&] { catalogue.processor(name); })) return true;
  std::vector<std::string> all;
  for (const Device& each : catalogue.devices) all.push_back(each.name);
  for (const Processor& each : catalogue.processors) all.push_back(each.name);
  if (name.find_first_of("@+ ") != std::string::npos || name == "local") return false;
  const std::string best = nearest(name, all, 1).front();
  return std::ranges::find(catalogue.processors, best, &Processor::name) !=
         catalogue.processors.end();
}

/// The rows of one name: of a host, a processor, a device, or a machine's devices and host.
void add_rows(const std::string& name, const Catalogue& catalogue, Properties& properties) {
  const auto host = std::ranges::find(catalogue.hosts, lower(name), &Host::name);
  if (host != catalogue.hosts.end()) return properties.of(*host);
  if (means_processor(name, catalogue)) return properties.of(catalogue.processor(name));
  if (name.find_first_of("@+ ") == std::string::npos && name != "local")
    return properties.of(catalogue.device(name));
  const Machine machine = parse_machine(name, catalogue);
  std::string last;
  for (const Device& device : machine.devices)
    if (device.name != last) {
      properties.of(device);
      last = device.name;
    }
  properties.of(machine.host);
}

}  // namespace

report::Table hardware_list(const Catalogue& catalogue) {
  report::Table table{{"kind", "name", "title", "memory_bytes", "bandwidth_bytes_s", "bf16_flops_s",
                       "host_bus_bytes_s", "disk_bytes", "launched", "source"},
                      {}};
  for (const Device& d : catalogue.devices)
    table.rows.push_back({std::string("device"),
                          d.name,
                          d.title,
                          bytes(d.memory),
                          rate(d.bandwidth),
                          flops(d.bf16 ? d.bf16 : d.fp16),
                          rate(d.host_bus),
                          {},
                          text_or_none(d.launched),
                          d.source});
  for (const Processor& p : catalogue.processors)
    table.rows.push_back({std::string("processor"),
                          p.name,
                          p.title,
                          {},
                          rate(p.ram_bandwidth),
                          positive(p.peak.value()),
                          {},
                          {},
                          {},
                          p.source});
  for (const Host& h : catalogue.hosts)
    table.rows.push_back({std::string("host"),
                          h.name,
                          h.title,
                          bytes(h.ram),
                          rate(h.ram_bandwidth),
                          positive(h.cpu_peak.value()),
                          rate(h.host_bus),
                          bytes(h.disk),
                          {},
                          h.source});
  return table;
}

report::Table hardware_properties(const std::vector<std::string>& names,
                                  const Catalogue& catalogue) {
  report::Table table{{"name", "property", "value"}, {}};
  Properties properties(table);
  for (const auto& name : names) add_rows(name, catalogue, properties);
  return table;
}

report::Table detected_hardware(const Detection& found, const Catalogue& catalogue) {
  report::Table table{{"name", "property", "value"}, {}};
  const auto row = [&](std::string name, std::string property, report::Value value) {
    const auto* text = std::get_if<std::string>(&value);
    if (std::holds_alternative<std::monostate>(value) || (text && text->empty())) return;
    table.rows.push_back({std::move(name), std::move(property), std::move(value)});
  };
  for (std::size_t i = 0; i < found.cards.size(); ++i) {
    const DetectedCard& card = found.cards[i];
    const std::string name = fmt::format("gpu {}", i);
    row(name, "name", card.name);
    row(name, "memory_bytes", bytes(card.memory));
    row(name, "visible_bytes", bytes(card.visible));
    if (card.free) row(name, "memory_free_bytes", card.free->count());
    row(name, "driver", card.driver);
    if (card.pcie_generation > 0)
      row(name, "host_bus", fmt::format("PCIe {}.0 x{}", card.pcie_generation, card.pcie_lanes));
    row(name, "compute_capability", to_string(card.compute_capability));
    row(name, "power_w", positive(card.power_w));
    row(name, "found_by", card.found_by + (card.tried ? "" : " (untested on such hardware)"));
  }
  row("host", "cuda_version", found.cuda_version);
  row("host", "cpu", found.cpu);
  row("host", "cores", std::int64_t{found.cores});
  row("host", "numa_nodes", std::int64_t{found.numa_nodes});
  row("host", "ram_bytes", bytes(found.ram));
  row("host", "ram_available_bytes", bytes(found.ram_available));
  if (found.ram_limit) row("host", "ram_limit_bytes", found.ram_limit->count());
  if (found.ram_bandwidth) row("host", "ram_bandwidth_bytes_s", rate(*found.ram_bandwidth));
  row("host", "disk", found.disk_kind);
  row("host", "disk_free_bytes", bytes(found.disk_free));
  if (found.disk_read) row("host", "disk_read_bytes_s", rate(*found.disk_read));
  std::vector<std::string> assumed;
  try {
    row("machine", "name", local_machine(found, catalogue, &assumed).name);
  } catch (const UnknownName& e) {
    row("machine", "unknown", std::string(e.what()));
  }
  for (auto& text : assumed) row("machine", "assumed", std::move(text));
  for (const auto& text : found.notes) row("machine", "note", text);
  return table;
}

}  // namespace headroom::sweep
