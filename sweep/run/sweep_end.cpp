#include "sweep/run/sweep_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <utility>

#include "hardware/quantity_text.hpp"
#include "report/reports.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/output.hpp"
#include "sweep/spec/spec.hpp"

namespace headroom::sweep {
namespace {

struct Counts {
  std::int64_t run = 0;
  Size stored = 0, reused = 0;
  std::string text;
  boost::json::object facts;
};

Counts counts_of(const report::Store& store, const Ending& ending) {
  Counts c{store.run_id(), store.stored_points(), store.reused_points(), {}, {}};
  const double rate =
      static_cast<double>(store.end_point() - ending.from) / std::max(ending.seconds, 1e-9);
  std::string reused;
  if (c.reused > 0)
    reused = fmt::format(" ({} reused from run {}, {} computed)", grouped(c.reused),
                         ending.reused_from, grouped(c.stored - c.reused));
  c.text = fmt::format("run {}: {}{} in {} ({} points/s)", c.run, grouped(c.stored, "point"),
                       reused, duration(ending.seconds), three_digits(rate));
  c.facts = {{"run", c.run},
             {"points", c.stored},
             {"reused", c.reused},
             {"computed", c.stored - c.reused},
             {"seconds", ending.seconds}};
  return c;
}

}  // namespace

report::Shard parse_shard(std::string_view text, Size points) {
  Size shard = 0, shards = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, shard);
  const bool slash = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
  const auto second = slash ? std::from_chars(first.ptr + 1, end, shards) : first;
  if (!slash || second.ec != std::errc() || second.ptr != end || shard < 1 || shard > shards)
    throw std::invalid_argument(
        fmt::format("found '{}', expected K/N with K from 1 to N: 3/16", text));
  if (shards > points)
    throw std::invalid_argument(fmt::format("found {} shards for {}: some would be empty", shards,
                                            counted(points, "point")));
  const auto border = [&](Size k) { return points / shards * k + std::min(k, points % shards); };
  return {border(shard - 1), border(shard)};
}

std::filesystem::path shard_file(const std::filesystem::path& out, std::string_view shard) {
  const auto slash = shard.find('/');
  return out / "shards" /
         fmt::format("{}-of-{}.sqlite", shard.substr(0, slash), shard.substr(slash + 1));
}

report::CsvFile csv_of(const Options& options, const std::string& spec) {
  if (const auto given = options.read("csv", csv_file_named)) return *given;
  try {
    return parse_spec(spec, "spec").csv;
  } catch (const std::exception&) {
    return report::CsvFile::plain;  // a spec of another version
  }
}

int end_shard(report::Store store, const std::filesystem::path& file, const Ending& ending,
              const Log& log) {
  const Counts counts = counts_of(store, ending);
  { const report::Store closed = std::move(store); }
  log.summary("shard", fmt::format("{}, into {}", counts.text, file.string()), counts.facts);
  return done;
}

int end_run(report::Store store, const std::filesystem::path& file,
            const std::filesystem::path& folder, const Ending& ending, const Log& log) {
  Counts counts = counts_of(store, ending);
  { const report::Store closed = std::move(store); }
  std::optional<report::Database> database;
  report::Source source =
      ending.read ? std::move(*ending.read) : report::source_of(database.emplace(file), counts.run);
  const bool same_rows = ending.rows_as_marked && counts.reused == counts.stored;
  const auto written =
      report::write_reports(std::move(source), folder, ending.figures(), ending.csv,
                            same_rows ? report::Csv::keep : report::Csv::write, ending.inputs);
  for (const auto& note : written.notes) log.say("note", note, {});
  counts.facts["files"] = written.files.size() + 1;
  counts.facts["folder"] = folder.string();
  log.summary(
      "run",
      fmt::format("{}, {} files in {}", counts.text, written.files.size() + 1, folder.string()),
      counts.facts);
  return done;
}

int end_unchanged(const report::RunSummary& run, const report::ReportMark& mark,
                  const std::filesystem::path& file, const std::filesystem::path& folder,
                  double seconds, const Log& log) {
  report::mark_source(folder, file);
  log.summary(
      "run",
      fmt::format("run {}: nothing changed since run {} of {}; its {} and the reports "
                  "in {} are as they were",
                  run.id, mark.run, mark.finished, grouped(run.points, "point"), folder.string()),
      {{"run", run.id},
       {"points", run.points},
       {"reused", run.points},
       {"computed", 0},
       {"seconds", seconds},
       {"files", 0},
       {"folder", folder.string()},
       {"unchanged_since", mark.run}});
  return done;
}

}  // namespace headroom::sweep
