// headroom calibrate: constants of engines from measurements of the user's own machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <set>

#include "report/whole_file.hpp"
#include "sweep/calibration.hpp"
#include "sweep/command.hpp"
#include "sweep/machine_options.hpp"
#include "sweep/measured_file.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;

/// A measurement that has no part in the fit.
struct Unused {
  std::string id, why;
};

struct Found {
  std::vector<MeasuredFile> files;
  std::vector<Unused> unused;
  std::vector<Calibration> calibrations;
  FactorProfile profile;
  std::size_t used = 0;
};

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

std::string words_of(const ErrorFigures& e) {
  return fmt::format("median {:.1f} %, 90th percentile {:.1f} %", 100 * e.median, 100 * e.p90);
}

/// What of the files can be estimated; the rest goes to `found.unused`.
std::vector<Subject> subjects_of(Found& found, Subjects& reader, bool on_machine) {
  std::vector<Subject> all;
  std::set<std::string> seen;
  for (const MeasuredFile& file : found.files)
    for (const Measurement& row : file.rows) {
      const auto skip = [&](std::string why) {
        found.unused.push_back({row["id"], std::move(why)});
      };
      if (!seen.insert(content_of(row)).second) {
        skip("the same as a row before it");
        continue;
      }
      if (!on_machine && !row.fields.contains("gpu")) {
        skip("the file names no GPU; --machine says which");
        continue;
      }
      try {
        Subject subject = reader.subject(row);
        const std::string reason = impossible(subject);
        if (reason.empty())
          all.push_back(std::move(subject));
        else
          skip(reason + ": a wrong unit, model or precision?");
      } catch (const Skipped& skipped) {
        skip(skipped.reason == Skip::device
                 ? std::string(skipped.what())
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

Found calibrated(const Options& options) {
  Found found;
  const RowDefaults defaults{options.text("model"), options.text("precision")};
  for (const std::string& path : options.operands()) {
    found.files.push_back(read_measured(path, defaults));
    const MeasuredHost& host = found.files.back().host;
    if (host.ram_bandwidth) found.profile.host.ram_bandwidth = host.ram_bandwidth;
    if (host.host_bus) found.profile.host.host_bus = host.host_bus;
    if (host.disk_read) found.profile.host.disk_read = host.disk_read;
  }
  Subjects reader(options.text("models"));
  auto machine = machine_of(options);
  if (found.profile.host.any() && !machine)
    throw UsageError("figures of the host itself need --machine: whose are they?");
  if (machine) {
    Machine& m = machine->machine;
    if (const auto rate = found.profile.host.ram_bandwidth) m.host.ram_bandwidth = *rate;
    if (const auto rate = found.profile.host.host_bus) m.host.host_bus = *rate;
    if (const auto rate = found.profile.host.disk_read) m.host.disk_read = *rate;
    reader.on(m);
  }
  const auto subjects = subjects_of(found, reader, machine.has_value());
  found.used = subjects.size();
  std::map<std::string_view, std::vector<Subject>> by_engine;
  std::set<std::string> machines;
  for (const Subject& each : subjects) {
    by_engine[each.scenario.runtime->family].push_back(each);
    const std::string name = each.scenario.machine->canonical_name();
    machines.insert(name.substr(0, name.find(" @ ")));
  }
  if (!machine && machines.size() > 1)
    throw UsageError(
        fmt::format("measurements of several machines ({}); a profile is of one: "
                    "--machine says which",
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

bool worth_writing(const Found& found) {
  return !found.profile.factors.empty() || found.profile.host.any();
}

/// Rows that are far from the fit, beside the others.
std::string outliers(const Calibration& c) {
  std::vector<double> errors;
  for (const FittedRow& row : c.rows) errors.push_back(std::abs(row.after / row.measured - 1));
  std::vector<double> sorted = errors;
  std::ranges::sort(sorted);
  const double far = std::max(0.3, 4 * (sorted.empty() ? 0 : sorted[sorted.size() / 2]));
  std::string text;
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (errors[i] > far)
      text += fmt::format("Far off     {} ({}): {:+.0f} %, of little weight in the fit\n",
                          (*c.rows[i].row)["id"], (*c.rows[i].row)["quantity"],
                          100 * (c.rows[i].after / c.rows[i].measured - 1));
  return text;
}

std::string text_of(const Calibration& c) {
  std::string text = fmt::format("\n{}: {} measurements\n", c.runtime, c.rows.size());
  if (c.rows.size() < fewest_measurements)
    return text + fmt::format("Not fitted  at least {} measurements of an engine are needed\n",
                              fewest_measurements);
  std::vector<std::vector<std::string>> rows;
  for (const FittedConstant& each : c.constants) {
    const Factor& f = each.factor;
    const bool interval = f.name.ends_with("_interval");
    rows.push_back({f.name + (f.cards == "any" ? "" : fmt::format(" ({}, {})", f.cards, f.width)),
                    interval ? "" : fmt::format("{:.4g}", each.before),
                    interval ? "" : fmt::format("{:.4g}", f.value),
                    fmt::format("{:.4g} to {:.4g}", f.low, f.high),
                    fmt::format("{}", f.measurements)});
  }
  if (!rows.empty())
    text += aligned({"constant", "shipped", "fitted", "range", "rows"},
                    {false, true, true, true, true}, rows);
  for (const NotFitted& each : c.not_fitted)
    text += fmt::format("Not fitted  {}: {}\n", each.name, each.why);
  if (c.constants.empty())
    return text + "Not fitted  no constant can be told by these measurements\n";
  text += fmt::format(
      "Error       before    {}\n            after     {}\n            left out  {} "
      "(fitted without {} in turn)\n",
      words_of(errors_of(c.rows, &FittedRow::before)),
      words_of(errors_of(c.rows, &FittedRow::after)),
      words_of(errors_of(c.rows, &FittedRow::left_out)), c.folds);
  text += outliers(c);
  if (!c.supported())
    text +=
        "Not kept    what was left out is not estimated better than before: the measurements do "
        "not support these constants\n";
  return text;
}

std::string text_of(const Found& found) {
  std::string text;
  for (const MeasuredFile& file : found.files) {
    text += fmt::format("Read        {}: {}, {} measurements\n", file.path, file.format,
                        file.rows.size());
    for (const auto& note : file.notes) text += "            " + note + '\n';
  }
  const auto rate = [&](std::string_view name, const std::optional<BytesPerSecond>& value) {
    if (value) text += fmt::format("Host        {} {:.4g} GB/s\n", name, value->value() / 1e9);
  };
  rate("RAM bandwidth", found.profile.host.ram_bandwidth);
  rate("bus to a card", found.profile.host.host_bus);
  rate("disk read", found.profile.host.disk_read);
  for (const Unused& each : found.unused)
    text += fmt::format("Left out    {}: {}\n", each.id, each.why);
  text += fmt::format("Used        {} of {} measurements{}{}\n", found.used,
                      found.used + found.unused.size(),
                      found.profile.machine.empty() ? "" : ", of ", found.profile.machine);
  for (const Calibration& each : found.calibrations) text += text_of(each);
  return text;
}

json::object figures_object(const ErrorFigures& e) {
  return {{"median", e.median}, {"p90", e.p90}};
}

json::object object_of(const Found& found) {
  json::array unused, engines;
  for (const Unused& each : found.unused)
    unused.push_back(json::object{{"id", each.id}, {"reason", each.why}});
  for (const Calibration& c : found.calibrations) {
    json::array constants, not_fitted, rows;
    for (const FittedConstant& each : c.constants)
      constants.push_back(json::object{{"name", each.factor.name},
                                       {"cards", each.factor.cards},
                                       {"width", each.factor.width},
                                       {"shipped", each.before},
                                       {"value", each.factor.value},
                                       {"low", each.factor.low},
                                       {"high", each.factor.high},
                                       {"measurements", each.factor.measurements}});
    for (const NotFitted& each : c.not_fitted)
      not_fitted.push_back(json::object{{"name", each.name}, {"reason", each.why}});
    for (const FittedRow& each : c.rows)
      rows.push_back(json::object{{"id", (*each.row)["id"]},
                                  {"quantity", (*each.row)["quantity"]},
                                  {"measured", each.measured},
                                  {"before", each.before},
                                  {"after", each.after},
                                  {"left_out", each.left_out}});
    engines.push_back(json::object{
        {"runtime", c.runtime},
        {"kept", c.supported()},
        {"constants", std::move(constants)},
        {"not_fitted", std::move(not_fitted)},
        {"errors",
         json::object{{"before", figures_object(errors_of(c.rows, &FittedRow::before))},
                      {"after", figures_object(errors_of(c.rows, &FittedRow::after))},
                      {"left_out", figures_object(errors_of(c.rows, &FittedRow::left_out))}}},
        {"rows", std::move(rows)}});
  }
  return {{"machine", found.profile.machine},
          {"used", found.used},
          {"left_out", std::move(unused)},
          {"engines", std::move(engines)}};
}

int run(const Options& options) {
  if (options.operands().empty())
    throw UsageError("which FILE? What llama-bench, vLLM's benchmark or the probe has written");
  const Format format = format_of(options);
  if (format == Format::csv || format == Format::markdown)
    throw UsageError("--format: calibrate has text, json and jsonl");
  const Found found = calibrated(options);
  if (format == Format::text)
    fmt::print("{}", text_of(found));
  else if (format == Format::json)
    fmt::print("{}", pretty(object_of(found)));
  else
    fmt::print("{}\n", json::serialize(object_of(found)));
  if (!worth_writing(found)) {
    fmt::print(stderr, "no profile: these measurements do not support one\n");
    return answer_is_no;
  }
  if (!options.given("out")) {
    fmt::print(stderr, "--out FILE writes the profile\n");
    return done;
  }
  report::write_whole(options.text("out"), profile_text(found.profile));
  fmt::print(stderr, "wrote {}; --factors {} uses it\n", options.text("out"), options.text("out"));
  return done;
}

}  // namespace

const Command calibrate_command = {
    {.name = "calibrate",
     .summary = "constants of engines from measurements of your own machine",
     .operands = "FILE…",
     .flags = "model precision models " HEADROOM_MACHINE_FLAGS " format out",
     .examples =
         "llama-bench -m llama-2-7b.Q4_K_M.gguf -o json > bench.json\n"
         "headroom calibrate bench.json --out mine.toml\n"
         "headroom calibrate serving.json --machine '1x rtx-4090' --precision awq-int4 --out "
         "mine.toml\n"
         "headroom calibrate probe.csv --machine local --out mine.toml\n"
         "headroom estimate llama2-7b --machine rtx-4090 --runtime llama.cpp --factors mine.toml",
     .columns =
         "reads: llama-bench -o csv, json, jsonl, sql and databases of its tables; vLLM's "
         "benchmark\n"
         "  JSON and start-up log; the CSV of examples/probe; a CSV with model, precision,\n"
         "  framework, quantity, unit and value, and as many of gpu, gpu_count, batch, "
         "prompt_len,\n"
         "  output_len and settings as are known (tests/accuracy/README.md). Quantities:\n"
         "  decode_speed, prefill_speed (tokens/s), tpot, ttft (ms, s), model_load_time (s),\n"
         "  max_gpu_memory, vram_used (GiB, bytes), and of the host ram_bandwidth, host_bus and\n"
         "  disk_read (GB/s)\n"
         "text, json: what was read, used and left out with reasons; constants before and after\n"
         "  with the range that leaving parts out gives; errors before, after and left out\n"
         "--out: the profile, TOML, for --factors",
     .exit_codes =
         "0 done\n1 failed: a file that is not understood, cut off or mixed\n2 usage: an "
         "option or a name that is not understood\n3 no: the measurements support no profile"},
    run};

}  // namespace headroom::sweep
