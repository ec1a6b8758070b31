// headroom hardware: devices and hosts, the shipped rows and the user's own.
#include <fmt/format.h>

#include <chrono>

#include "hardware/detect.hpp"
#include "hardware/lint.hpp"
#include "hardware/measure.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/hardware_tables.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

/// Two seconds for memory, two for the disk: --measure is bounded.
void measure(Detection& found) {
  constexpr std::chrono::seconds limit{2};
  found.ram_bandwidth = measure_ram(found.cores, limit);
  if (!found.ram_bandwidth) found.notes.emplace_back("RAM bandwidth: not enough memory to measure");
  found.disk_read = measure_disk(".", limit);
  if (!found.disk_read)
    found.notes.emplace_back("disk read: this folder cannot be written past the page cache");
}

int check(const Catalogue& catalogue, const Options& options) {
  report::Table table{{"finding"}, {}};
  for (auto& finding : lint(catalogue)) table.rows.push_back({std::move(finding)});
  const Format format = format_of(options);
  if (format == Format::text && table.rows.empty())
    emit(options, fmt::format("{} devices, {} hosts: nothing found\n", catalogue.devices.size(),
                              catalogue.hosts.size()));
  else
    emit(options, formatted(table, format));
  return table.rows.empty() ? done : failed;
}

void no_more(const std::vector<std::string>& names, std::string_view action) {
  if (!names.empty())
    throw UsageError(fmt::format("hardware {}: found '{}', expected nothing more", action,
                                 fmt::join(names, " ")));
}

int run_hardware(const Options& options) {
  std::vector<std::string> names = options.operands();
  const std::string action = names.empty() ? "list" : names.front();
  if (!names.empty()) names.erase(names.begin());
  if (options.given("measure") && action != "detect")
    throw UsageError("--measure works only with `hardware detect`");
  const Catalogue catalogue = catalogue_of(options.texts("hardware"));
  if (action == "lint") {
    no_more(names, action);
    return check(catalogue, options);
  }
  if (action == "detect") {
    no_more(names, action);
    Detection found = detect();
    if (options.given("measure")) measure(found);
    emit(options, formatted(detected_hardware(found, catalogue), format_of(options)));
    return done;
  }
  if (action == "list") {
    const std::string kind = names.empty() ? "all" : names.front();
    if (names.size() > 1 || (kind != "all" && kind != "devices" && kind != "hosts"))
      throw UsageError(fmt::format("hardware list: found '{}', expected devices, hosts or nothing",
                                   fmt::join(names, " ")));
    emit(options, formatted(hardware_list(catalogue, kind), format_of(options)));
    return done;
  }
  if (action != "show")
    throw UsageError(
        fmt::format("hardware: found '{}', expected list, show, lint or detect", action));
  if (names.empty()) throw UsageError("hardware show: which device, host or machine?");
  emit(options, formatted(hardware_properties(names, catalogue), format_of(options)));
  return done;
}

}  // namespace

const Command hardware_command = {
    {.name = "hardware",
     .summary = "list, show, check or detect devices and hosts",
     .operands = "list|show|lint|detect [NAME…]",
     .flags = "hardware measure format out",
     .examples = "headroom hardware list\nheadroom hardware list hosts --format csv\n"
                 "headroom hardware show a100-sxm-40gb\n"
                 "headroom hardware show '2x rtx-3090 @ desktop-ddr5-64gb' --hardware mine.toml\n"
                 "headroom hardware lint --hardware mine.toml\n"
                 "headroom hardware detect --measure",
     .columns =
         "list: kind, name, title, memory_bytes, bandwidth_bytes_s, bf16_flops_s (dense; of\n"
         "      a host: fp32 of the CPU), host_bus_bytes_s, disk_bytes, launched, source\n"
         "show, detect: name, property, value; detect lists what it assumed and what it could not "
         "read\n"
         "lint: finding, one a line; exit code 1 where there is one",
     .exit_codes = usual_exit_codes},
    run_hardware};

}  // namespace headroom::sweep
