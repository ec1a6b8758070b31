// headroom calibrate: constants of engines from measurements of the user's own machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <ctime>
#include <map>
#include <set>

#include "report/whole_file.hpp"
#include "sweep/accuracy/calibrate_report.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

/// All fields but the record's own name and place.
std::string content_of(const Measurement& row) {
  std::string text;
  for (const auto& [name, value] : row.fields)
    if (name != "id" && name != "source") text += name + '=' + value + '\n';
  return text;
}

/// Rows of the files that can be estimated; other rows go to `found.unused`.
std::vector<ScoredRow> subjects_of(CalibrationReport& found, Subjects& reader, bool on_machine) {
  std::vector<ScoredRow> all;
  std::set<std::string> seen;
  for (const MeasuredFile& file : found.files)
    for (const Measurement& row : file.rows) {
      const auto skip = [&](std::string kind, std::string why) {
        found.unused.push_back({row["id"], std::move(kind), std::move(why)});
      };
      if (!seen.insert(content_of(row)).second) {
        skip("the same as a row before", "the same as a row before it");
        continue;
      }
      if (!on_machine && row["machine"].empty()) {
        skip("no GPU is named", "the file names no GPU; give --machine");
        continue;
      }
      try {
        ScoredRow subject = reader.subject(row);
        const std::string reason = impossible(subject);
        if (reason.empty())
          all.push_back(std::move(subject));
        else
          skip("impossible", reason + ": a wrong unit, model or precision?");
      } catch (const Skipped& skipped) {
        skip(skipped.reason == Skip::device ? "other cards" : std::string(name_of(skipped.reason)),
             skipped.reason == Skip::device || *skipped.what() == '\0'
                 ? std::string(*skipped.what() ? skipped.what() : name_of(skipped.reason))
                 : fmt::format("{} ({})", name_of(skipped.reason), skipped.what()));
      }
    }
  return all;
}

void add_to_profile(FactorProfile& profile, const Calibration& each, const std::string& source) {
  for (const FittedConstant& fitted : each.constants) {
    profile.factors.push_back(fitted.factor);
    profile.factors.back().source = source;
  }
  profile.errors += fmt::format("{}{}: before {}; after {}; leaving out {} in turn {}",
                                profile.errors.empty() ? "" : ". ", each.runtime,
                                words_of(errors_of(each.rows, &FittedRow::before)),
                                words_of(errors_of(each.rows, &FittedRow::after)), each.folds,
                                words_of(errors_of(each.rows, &FittedRow::left_out)));
}

CalibrationReport calibrated(const Options& options) {
  CalibrationReport found;
  auto machine = machine_of(options);
  RowDefaults defaults{
      options.text("model"), options.text("precision"), {}, options.text("models")};
  if (machine && !machine->machine.devices.empty())
    defaults.card_memory = usable_memory(machine->machine.devices.front());
  for (const std::string& path : options.operands()) {
    found.files.push_back(read_measured(path, defaults));
    const MeasuredHost& host = found.files.back().host;
    if (host.ram_bandwidth) found.profile.host.ram_bandwidth = host.ram_bandwidth;
    if (host.host_bus) found.profile.host.host_bus = host.host_bus;
    if (host.disk_read) found.profile.host.disk_read = host.disk_read;
  }
  Subjects reader(options.text("models"));
  if (found.profile.host.any() && !machine)
    throw UsageError("figures of the host need --machine, which names the host");
  if (machine) {
    Machine& m = machine->machine;
    if (const auto rate = found.profile.host.ram_bandwidth) m.host.ram_bandwidth = *rate;
    if (const auto rate = found.profile.host.host_bus) m.host.host_bus = *rate;
    if (const auto rate = found.profile.host.disk_read) m.host.disk_read = *rate;
    reader.on(m);
  }
  const auto subjects = subjects_of(found, reader, machine.has_value());
  found.used = subjects.size();
  std::map<std::string_view, std::vector<ScoredRow>> by_engine;
  std::set<std::string> machines;
  for (const ScoredRow& each : subjects) {
    by_engine[each.scenario.runtime->family].push_back(each);
    machines.emplace(cards_in_name(each.scenario.machine->canonical_name()));
  }
  if (!machine && machines.size() > 1)
    throw UsageError(fmt::format(
        "measurements of several machines ({}); a profile describes one: give --machine",
        fmt::join(machines, "; ")));
  for (const auto& [engine, members] : by_engine) found.calibrations.push_back(calibrate(members));
  FactorProfile& profile = found.profile;
  profile.machine =
      machine ? machine->machine.canonical_name() : fmt::format("{}", fmt::join(machines, ", "));
  profile.date = today();
  profile.files = options.operands();
  const std::string source = fmt::format("{}", fmt::join(options.operands(), ", "));
  for (const Calibration& each : found.calibrations)
    if (each.supported()) add_to_profile(profile, each, source);
  return found;
}

bool worth_writing(const CalibrationReport& found) {
  return !found.profile.factors.empty() || found.profile.host.any();
}

int run_calibrate(const Options& options) {
  if (options.operands().empty())
    throw UsageError("which FILE? Give output of llama-bench, vLLM's benchmark or the probe");
  const Format format = format_of(options);
  if (format == Format::csv || format == Format::markdown)
    throw UsageError("--format: calibrate has text, json and jsonl");
  const CalibrationReport found = calibrated(options);
  if (format == Format::text)
    fmt::print("{}", calibration_text(found));
  else if (format == Format::json)
    fmt::print("{}", pretty(calibration_object(found)));
  else
    fmt::print("{}\n", json::serialize(calibration_object(found)));
  if (!worth_writing(found)) {
    fmt::print(stderr, "no profile: these measurements do not support one\n");
    return answer_is_no;
  }
  if (!options.given("out")) {
    fmt::print(stderr, "--out FILE writes the profile\n");
    return done;
  }
  report::write_whole(options.text("out"), profile_text(found.profile));
  const bool host_alone = found.profile.factors.empty();
  fmt::print(stderr, "wrote {}{}; --factors {} uses it\n", options.text("out"),
             host_alone ? ", the host's figures alone" : "", options.text("out"));
  return done;
}

}  // namespace

const Command calibrate_command = {
    {.name = "calibrate",
     .summary = "constants of engines from measurements of your own machine",
     .operands = "FILE…",
     .flags = "model precision models " HEADROOM_MACHINE_FLAGS " format out",
     .examples =
         "llama-bench -m llama-2-7b.Q4_K_M.gguf -p 512,2048 -n 128,256 -o json > bench.json\n"
         "headroom calibrate bench.json --out mine.toml\n"
         "headroom calibrate serving.json --machine '1x rtx-4090' --precision awq-int4 --out "
         "mine.toml\n"
         "headroom calibrate probe.csv --machine local --out mine.toml\n"
         "headroom estimate llama2-7b --machine rtx-4090 --runtime llama.cpp --factors mine.toml",
     .columns =
         "reads: llama-bench -o csv, json, jsonl, sql and databases of its tables; vLLM's "
         "benchmark\n"
         "  JSON and start-up log; the CSV of examples/probe; a CSV of canonical rows\n"
         "  (tests/accuracy/README.md) with model, precision, runtime, figure, unit and value, "
         "and\n"
         "  all other known columns. The host's own figures are ram_bandwidth,\n"
         "  host_bus and disk_read (GB/s)\n"
         "text, json: rows read, used and left out with reasons; constants before and after\n"
         "  with their range when parts are left out; errors before, after and left out\n"
         "--out: the profile, TOML, for --factors",
     .exit_codes =
         "0 done\n1 failed: a file that is not understood, cut off or mixed\n2 usage: an "
         "option or a name that is not understood\n3 no: the measurements support no profile"},
    run_calibrate};

}  // namespace headroom::sweep
