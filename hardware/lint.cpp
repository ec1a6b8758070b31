// The rules, one function for each subject.
#include "hardware/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

using Findings = std::vector<std::string>;

template <class Fact>
void check_names(const std::vector<Fact>& facts, Findings& findings) {
  struct Name {
    const Fact* owner;
    const std::string* text;
  };
  std::vector<Name> names;
  for (const Fact& each : facts) {
    names.push_back({&each, &each.name});
    for (const std::string& alias : each.aliases) names.push_back({&each, &alias});
  }
  std::vector<std::string> spelled;
  for (const Name& each : names) spelled.push_back(spelling(*each.text));
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (spelled[i] == spelled[j] && names[i].owner != names[j].owner)
        findings.push_back(fmt::format("{}: '{}' is also a name of {}", names[i].owner->name,
                                       *names[i].text, names[j].owner->name));
}

template <class Fact>
void check_source(const Fact& fact, Findings& findings) {
  if (fact.source.empty()) findings.push_back(fmt::format("{}: no source", fact.name));
  if (fact.date.empty())
    findings.push_back(fmt::format("{}: no date on which the source was read", fact.name));
}

template <class Fact>
void check_power(const Fact& fact, Findings& findings) {
  if (!(fact.power_w > 0) && fact.power_unknown.empty())
    findings.push_back(fmt::format(
        "{}: no power; expected power_w, or power_unknown = \"the reason\"", fact.name));
}

double tera(const std::optional<FlopsPerSecond>& rate) { return rate ? rate->value() / 1e12 : 0; }

/// Checks the ratios between number formats that NVIDIA tensor units and AMD matrix units have. A
/// peak with 2:1 sparsity next to one without breaks these ratios.
void check_peaks(const Device& device, Findings& findings) {
  if (device.vendor != "nvidia" && device.vendor != "amd") return;
  const double fp16 = tera(device.fp16);
  const auto expect = [&](std::string_view what, double value, std::string_view to, double base,
                          double least, double most) {
    if (value != 0 && base != 0 && (value < least * base || value > most * base))
      findings.push_back(
          fmt::format("{}: {} is {:.3g} times {}; expected from {} to {} (dense peaks)",
                      device.name, what, value / base, to, least, most));
  };
  expect("bf16", tera(device.bf16), "fp16", fp16, 0.99, 1.01);
  expect("tf32", tera(device.tf32), "fp16", fp16, 0.49, 0.51);
  expect("fp8", tera(device.fp8), "fp16", fp16, 1.97, 2.03);
  expect("fp4", tera(device.fp4), "the better of fp8 and int8",
         std::max(tera(device.fp8), tera(device.int8)), 1.9, 3.1);
  if (tera(device.int8) > fp16) expect("int8", tera(device.int8), "fp16", fp16, 1, 4.05);
}

/// A check of a row's figure, of which 0 is unknown.
auto limits_of(std::string_view row, Findings& findings) {
  return [row, &findings](std::string_view what, double value, double least, double most,
                          std::string_view unit) {
    if (value != 0 && (value < least || value > most))
      findings.push_back(fmt::format("{}: {} of {:.4g} {}; expected from {} to {}", row, what,
                                     value, unit, least, most));
  };
}

void check_figures(const Device& device, Findings& findings) {
  const auto expect = limits_of(device.name, findings);
  const double seconds = device.memory / device.bandwidth / Seconds(1);
  expect("time to read all memory", seconds, 0.005, 1.5, "s");
  const Intensity balance = device.peak(Arithmetic::bf16) / device.bandwidth;
  expect("16-bit peak over bandwidth", balance.value(), 5, 1000, "FLOP/byte");
  expect("host bus over bandwidth", device.host_bus / device.bandwidth, 0.003, 1, "");
  expect("power", device.power_w, 5, 3000, "W");
  if (device.unified_memory && device.power_w > 0 && !device.power_includes_host)
    findings.push_back(fmt::format(
        "{}: card and host share a memory and a power supply; expected power_w of both, with "
        "power_includes_host = true",
        device.name));
  if ((device.link > BytesPerSecond()) != !device.link_kind.empty())
    findings.push_back(fmt::format("{}: link_gbs and link_kind go together", device.name));
  if ((device.host_bus > BytesPerSecond()) != !device.host_bus_kind.empty())
    findings.push_back(fmt::format("{}: host_bus_gbs and host_bus_kind go together", device.name));
}

void check_figures(const Processor& processor, Findings& findings) {
  const auto expect = limits_of(processor.name, findings);
  expect("base clock", processor.base_clock_ghz, 0.5, 7, "GHz");
  expect("operations a cycle", processor.flops_a_cycle, 2, 128, "FLOP");
  expect("peak of a core", processor.peak.value() / 1e9 / processor.cores, 2, 500, "GFLOPS");
  expect("RAM bandwidth", processor.ram_bandwidth.value() / 1e9, 5, 2000, "GB/s");
  expect("RAM bandwidth of a core", processor.ram_bandwidth.value() / 1e9 / processor.cores, 0.5,
         60, "GB/s");
  expect("power of a core", processor.power_w / processor.cores, 0.5, 50, "W");
}

void check_figures(const Host& host, Findings& findings) {
  const auto expect = limits_of(host.name, findings);
  expect("RAM of a core", host.ram.real().value() / GiB / host.cores, 0.25, 256, "GiB");
  expect("RAM bandwidth of a core", host.ram_bandwidth.value() / 1e9 / host.cores, 0.5, 60, "GB/s");
  expect("peak of a core", host.cpu_peak.value() / 1e9 / host.cores, 2, 500, "GFLOPS");
  expect("disk read", host.disk_read.value() / 1e9, 0.01, 100, "GB/s");
}

}  // namespace

std::vector<std::string> lint(const Catalogue& catalogue) {
  Findings findings;
  check_names(catalogue.devices, findings);
  check_names(catalogue.processors, findings);
  check_names(catalogue.hosts, findings);
  for (const Device& each : catalogue.devices) {
    check_source(each, findings);
    check_power(each, findings);
    check_peaks(each, findings);
    check_figures(each, findings);
    const bool host_known =
        each.host.empty() || std::ranges::any_of(catalogue.hosts, [&](const Host& host) {
          return host.name == each.host;
        });
    if (!host_known)
      findings.push_back(fmt::format("{}: its host '{}' is not there", each.name, each.host));
  }
  for (const Processor& each : catalogue.processors) {
    check_source(each, findings);
    check_power(each, findings);
    check_figures(each, findings);
  }
  for (const Host& each : catalogue.hosts) {
    check_source(each, findings);
    check_power(each, findings);
    check_figures(each, findings);
  }
  return findings;
}

}  // namespace headroom
