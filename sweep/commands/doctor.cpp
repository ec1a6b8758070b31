// headroom doctor: what this computer has, what it lacks, and what that costs.
#include <fmt/format.h>
#include <sqlite3.h>
#include <tbb/version.h>

#include <boost/version.hpp>
#include <filesystem>

#include "hardware/detect.hpp"
#include "hardware/program.hpp"
#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/hub/curl.hpp"
#include "sweep/hub/settings.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/answer_lines.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;

std::string hub_cache_text() {
  std::error_code error;
  const fs::path folder = hf_cache_folder(process_environment());
  if (!fs::is_directory(folder, error)) return "";
  int models = 0;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("models--")) ++models;
  return folder.string() + ": " + counted(models, "model");
}

/// Version of libcurl, loaded for this.
std::string curl_text() try { return curl().version(); } catch (const HttpError&) {
  return "";
}

/// Sources of the hub's address and of its token. The token itself stays secret.
std::string hub_text() try {
  const HubSettings hub = hub_settings({}, process_environment());
  return fmt::format("{}, {}{}", hub.endpoint,
                     hub.token.empty() ? "no token" : "token of " + hub.token_from,
                     hub.offline_by.empty() ? "" : ", offline by " + hub.offline_by);
} catch (const std::invalid_argument& e) {
  return e.what();
}

std::string first_line(const ProgramResult& result) {
  if (result.outcome != ProgramResult::Outcome::finished || result.exit_code != 0) return "";
  return result.output.substr(0, result.output.find('\n'));
}

class Findings {
 public:
  /// `cost`: what being without it costs; said only where `found` is empty.
  void add(std::string what, std::string found, std::string cost) {
    const bool missing = found.empty();
    table.rows.push_back({std::move(what), missing ? std::string("missing") : std::move(found),
                          missing ? std::move(cost) : std::string()});
  }
  report::Table table{{"what", "found", "cost"}, {}};
};

report::Table findings() {
  Findings all;
  all.add("headroom", HEADROOM_VERSION, "");
  all.add("sqlite", sqlite3_libversion(), "");
  all.add("Boost",
          fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000,
                      BOOST_VERSION % 100),
          "");
  all.add("oneTBB", TBB_runtime_version(), "");
  using std::chrono::seconds;
  all.add("gnuplot", first_line(run_program({"gnuplot", "--version"}, seconds(5))),
          "no curves: tables and the .gp and .dat files only; apt install gnuplot-nox");
  const Detection here = detect();
  std::string cards;
  for (const auto& card : here.cards)
    cards += fmt::format("{}{} ({}, driver {})", cards.empty() ? "" : "; ", card.name,
                         to_text(card.memory), card.driver);
  all.add("GPU", cards, "--machine local has no card: name the machine instead");
  all.add("nvidia-smi", first_line(run_program({"nvidia-smi", "--version"}, seconds(5))),
          "NVIDIA cards of this computer are not detected; estimates need none");
  all.add("CUDA", here.cuda_version, "nothing: estimates do not run on a GPU");
  all.add("CPU", here.cpu.empty() ? "" : fmt::format("{}, {} cores", here.cpu, here.cores),
          "--machine local assumes the default host's");
  std::string ram = here.ram > Bytes(0) ? to_text(here.ram) : "";
  if (here.ram_limit) ram += fmt::format(", limited to {}", to_text(*here.ram_limit));
  all.add("RAM", ram, "--machine local assumes the default host's");
  all.add("disk",
          here.disk_free > Bytes(0)
              ? fmt::format("{} free here{}{}", to_text(here.disk_free),
                            here.disk_kind.empty() ? "" : ", ", here.disk_kind)
              : "",
          "results cannot be written here");
  all.add("libcurl", curl_text(), "no models from the hub; apt install libcurl4");
  all.add("hub", hub_text(), "");
  all.add("hub cache", hub_cache_text(),
          "nothing: models of the hub are fetched when they are asked for");
  for (const auto& note : here.notes) all.add("note", note, "");
  return all.table;
}

/// Missing tools first, then everything that was looked for.
std::string doctor_screen(const report::Table& found) {
  std::string missing, text;
  std::size_t count = 0;
  for (const auto& row : found.rows) {
    const std::string what = report::text(row[0]), cost = report::text(row[2]);
    const bool lacks = report::text(row[1]) == "missing";
    const std::string words = report::text(row[1]) + (cost.empty() ? "" : ": " + cost);
    text += fmt::format("{:<12}{}\n", what, trimmed(wrapped(words, 12, 12)));
    if (!lacks) continue;
    missing += (count++ == 0 ? "" : ", ") + what;
  }
  return (count == 0 ? std::string("Nothing is missing.\n")
                     : paragraph(fmt::format("{} missing: {}. Estimates need none of them.", count,
                                             missing))) +
         '\n' + text;
}

int run_doctor(const Options& options) {
  const report::Table found = findings();
  const Format format = format_of(options);
  emit(options, format == Format::text ? doctor_screen(found) : formatted(found, format));
  return done;
}

}  // namespace

const Command doctor_command = {
    {.name = "doctor",
     .summary = "check this computer: versions, hardware and missing tools",
     .operands = "",
     .flags = "format out",
     .examples = "headroom doctor\nheadroom doctor --format json",
     .columns = "what, found, cost (of missing it)",
     .exit_codes = "0 done, even if something is missing\n1 failed: the output cannot be written\n"
                   "2 usage: an option that is not understood"},
    run_doctor};

}  // namespace headroom::sweep
