// headroom hardware: devices, processors and hosts, the shipped rows and the user's own.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

#include "hardware/detect.hpp"
#include "hardware/lint.hpp"
#include "hardware/measure.hpp"
#include "hardware/quantity_text.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/hardware_screen.hpp"
#include "sweep/screen/hardware_tables.hpp"
#include "sweep/screen/terminal.hpp"

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
    emit(options, fmt::format("{}, {}, {}: nothing found\n",
                              counted(std::ssize(catalogue.devices), "device"),
                              counted(std::ssize(catalogue.processors), "processor"),
                              counted(std::ssize(catalogue.hosts), "host")));
  else
    emit(options, formatted(table, format));
  return table.rows.empty() ? done : failed;
}

void no_more(const std::vector<std::string>& names, std::string_view action) {
  if (!names.empty())
    throw UsageError(fmt::format("hardware {}: found '{}', expected nothing more", action,
                                 fmt::join(names, " ")));
}

/// `hardware`, `hardware list [WORD…]` and `hardware WORD…`: a word limits the list.
int list(const std::vector<std::string>& words, bool whole, const Options& options,
         const Catalogue& catalogue) {
  const Format format = format_of(options);
  refuse_details_outside_text(options, format);
  const bool screen = format == Format::text && !options.given("details");
  if (words.empty() && !whole && screen && on_terminal(options)) {
    emit(options, hardware_overview(catalogue));
    return done;
  }
  const Catalogue found = listed_hardware(catalogue, words);
  emit(options, screen ? hardware_lines(found, catalogue, length_for(options, whole),
                                        fmt::format("{}", fmt::join(words, " ")))
                       : formatted(hardware_list(found), format));
  return done;
}

int detected(const Options& options, const Catalogue& catalogue) {
  Detection found = detect();
  if (options.given("measure")) measure(found);
  show_properties(options, detected_hardware(found, catalogue));
  return done;
}

int run_hardware(const Options& options) {
  std::vector<std::string> names = options.operands();
  const std::string action = names.empty() ? "" : names.front();
  if (options.given("measure") && action != "detect")
    throw UsageError("--measure works only with `hardware detect`");
  const auto held = catalogue_of(options.texts("hardware"));
  const Catalogue& catalogue = *held;
  if (action != "lint" && action != "detect" && action != "show" && action != "list")
    return list(names, false, options, catalogue);
  names.erase(names.begin());
  if (action == "list") return list(names, true, options, catalogue);
  if (options.given("details"))
    throw UsageError(fmt::format("--details has no effect on hardware {}", action));
  if (action != "show") {
    no_more(names, action);
    return action == "lint" ? check(catalogue, options) : detected(options, catalogue);
  }
  if (names.empty()) throw UsageError("hardware show: which device, processor, host or machine?");
  show_properties(options, hardware_properties(names, catalogue));
  return done;
}

}  // namespace

const Command hardware_command = {
    {.name = "hardware",
     .summary = "list, show, check or detect devices, processors and hosts",
     .operands = "[WORD…] | list [WORD…] | show NAME… | lint | detect",
     .flags = "hardware measure details format out",
     .examples = "headroom hardware 4090\nheadroom hardware list hosts --format csv\n"
                 "headroom hardware list processors\n"
                 "headroom hardware show a100-sxm-40gb\n"
                 "headroom hardware show '2x rtx-3090 @ desktop-ddr5-64gb' --hardware mine.toml\n"
                 "headroom hardware lint --hardware mine.toml\n"
                 "headroom hardware detect --measure",
     .columns =
         "text: GB as sold, GB/s, dense 16-bit TFLOPS, year; WORD limits the list (devices, "
         "processors\n      and hosts are words too)\n"
         "list: kind, name, title, memory_bytes, bandwidth_bytes_s, bf16_flops_s (dense; of\n"
         "      a processor or a host: fp32 of the CPU), host_bus_bytes_s, disk_bytes, launched, "
         "source\n"
         "show, detect: name, property, value; detect lists what it assumed and what it could not "
         "read\n"
         "lint: finding, one a line; exit code 1 where there is one",
     .exit_codes = usual_exit_codes},
    run_hardware};

}  // namespace headroom::sweep
