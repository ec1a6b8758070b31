// headroom hardware: devices and hosts, the shipped rows and the user's own.
#include <fmt/format.h>

#include "hardware/names.hpp"
#include "sweep/command.hpp"
#include "sweep/machine_options.hpp"
#include "sweep/output.hpp"

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

report::Table list(const Catalogue& catalogue, std::string_view kind) {
  report::Table table{{"kind", "name", "title", "memory_bytes", "bandwidth_bytes_s", "bf16_flops_s",
                       "host_bus_bytes_s", "disk_bytes", "launched", "source"},
                      {}};
  if (kind != "hosts")
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
  if (kind != "devices")
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
    row("power_w", positive(d.power_w));
    row("compute_capability", d.compute_capability);
    row("launched", d.launched);
    row("list_price_usd", d.list_price_usd ? positive(*d.list_price_usd) : report::Value());
    row("source", d.source);
    row("date", d.date);
    for (const auto& c : d.conflicts)
      row("conflict", fmt::format("{}: {} kept, {} in {}", c.key, c.kept, c.other, c.source));
  }
  void of(const Host& h) {
    name_ = h.name;
    row("title", h.title);
    row("aliases", fmt::format("{}", fmt::join(h.aliases, ", ")));
    row("ram_bytes", bytes(h.ram));
    row("ram_bandwidth_bytes_s", rate(h.ram_bandwidth));
    row("cores", std::int64_t{h.cores});
    row("cpu_fp32_flops_s", positive(h.cpu_peak.value()));
    row("host_bus_bytes_s", rate(h.host_bus));
    row("disk", h.disk_kind);
    row("disk_bytes", bytes(h.disk));
    row("disk_read_bytes_s", rate(h.disk_read));
    row("card_link_bytes_s", rate(h.card_link));
    row("network_bytes_s", rate(h.network));
    row("power_w", positive(h.power_w));
    row("source", h.source);
    row("date", h.date);
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

/// A device, a host, or a machine: then its distinct devices and its host.
report::Table show(const std::vector<std::string>& names, const Catalogue& catalogue) {
  report::Table table{{"name", "property", "value"}, {}};
  Properties properties(table);
  for (const auto& name : names) {
    const auto is_host = [&](const Host& h) { return lower(h.name) == lower(name); };
    if (const auto host = std::ranges::find_if(catalogue.hosts, is_host);
        host != catalogue.hosts.end()) {
      properties.of(*host);
      continue;
    }
    if (name.find_first_of("@+ ") == std::string::npos && name != "local") {
      properties.of(catalogue.device(name));
      continue;
    }
    const Machine machine = parse_machine(name, catalogue);
    std::string last;
    for (const Device& device : machine.devices)
      if (device.name != last) {
        properties.of(device);
        last = device.name;
      }
    properties.of(machine.host);
  }
  return table;
}

int run(const Options& options) {
  std::vector<std::string> names = options.operands();
  const std::string action = names.empty() ? "list" : names.front();
  if (!names.empty()) names.erase(names.begin());
  const Catalogue catalogue = catalogue_of(options.texts("hardware"));
  if (action == "list") {
    const std::string kind = names.empty() ? "all" : names.front();
    if (names.size() > 1 || (kind != "all" && kind != "devices" && kind != "hosts"))
      throw UsageError(fmt::format("hardware list: found '{}', expected devices, hosts or nothing",
                                   fmt::join(names, " ")));
    emit(options, formatted(list(catalogue, kind), format_of(options)));
    return done;
  }
  if (action != "show")
    throw UsageError(fmt::format("hardware: found '{}', expected list or show", action));
  if (names.empty()) throw UsageError("hardware show: which device, host or machine?");
  emit(options, formatted(show(names, catalogue), format_of(options)));
  return done;
}

}  // namespace

const Command hardware_command = {
    {.name = "hardware",
     .summary = "devices and hosts: list, show",
     .operands = "list|show [NAME…]",
     .flags = "hardware format out",
     .examples = "headroom hardware list\nheadroom hardware list hosts --format csv\n"
                 "headroom hardware show a100-sxm-40gb\n"
                 "headroom hardware show '2x rtx-3090 @ desktop-ddr5-64gb' --hardware mine.toml",
     .columns =
         "list: kind, name, title, memory_bytes, bandwidth_bytes_s, bf16_flops_s (dense; of\n"
         "      a host: fp32 of the CPU), host_bus_bytes_s, disk_bytes, launched, source\n"
         "show: name, property, value",
     .exit_codes = usual_exit_codes},
    run};

}  // namespace headroom::sweep
