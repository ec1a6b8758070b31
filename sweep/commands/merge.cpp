// headroom merge: the shards of one grid into one run.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "report/read.hpp"
#include "report/selection.hpp"
#include "report/store.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/output.hpp"
#include "sweep/run/sweep_end.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;

struct Part {
  fs::path file;
  report::RunSummary run;
};

/// Files as given; of a folder all that lie in its shards/.
std::vector<fs::path> files_of(const Options& options) {
  std::vector<fs::path> files;
  for (const auto& given : options.operands()) {
    std::error_code error;
    if (!fs::is_directory(given, error)) {
      files.emplace_back(given);
      continue;
    }
    const auto before = files.size();
    for (const auto& entry : fs::directory_iterator(fs::path(given) / "shards", error))
      if (entry.path().extension() == ".sqlite") files.push_back(entry.path());
    if (files.size() == before)
      throw UsageError(
          fmt::format("{}: has no shards/*.sqlite; headroom sweep --shard K/N --out "
                      "{} writes them",
                      given, given));
  }
  if (files.empty())
    throw UsageError("which shards? Their files, or the folder that holds shards/");
  return files;
}

/// Throws StoreError where the file is damaged: before anything is written.
Part part_of(const fs::path& file) {
  report::require_sound(file);
  const report::Database database(file);
  const auto runs = database.runs();
  if (runs.empty()) throw report::StoreError(fmt::format("{}: holds no run", file.string()));
  if (runs.back().finished.empty())
    throw report::StoreError(
        fmt::format("{}: its shard is at point {} of {} to {}; repeat its command to finish it",
                    file.string(), runs.back().next, runs.back().first, runs.back().end - 1));
  return {file, runs.back()};
}

/// The difference between two shards that should belong to one run.
std::string difference(const Part& a, const Part& b) {
  const auto one = report::Database(a.file).run(a.run.id);
  const auto other = report::Database(b.file).run(b.run.id);
  if (one.version != other.version)
    return fmt::format("program {} and {}", one.version, other.version);
  if (one.spec != other.spec) return "two specs";
  for (std::size_t g = 0; g < std::min(one.grids.size(), other.grids.size()); ++g)
    for (std::size_t d = 0; d < std::min(one.grids[g].digits.size(), other.grids[g].digits.size());
         ++d)
      for (const auto& axis : one.grids[g].digits[d])
        for (const auto& axis2 : other.grids[g].digits[d])
          if (axis.column == axis2.column)
            for (std::size_t i = 0;
                 i < std::min(axis.fingerprints.size(), axis2.fingerprints.size()); ++i)
              if (axis.fingerprints[i] != axis2.fingerprints[i])
                return fmt::format("{} {} with other facts", axis.column,
                                   report::text_of(&axis.values[i]));
  return "other values of their axes";
}

/// In the order of their points. Throws StoreError where they are not one whole.
std::vector<Part> checked(std::vector<Part> parts) {
  std::ranges::sort(parts, {}, [](const Part& p) { return std::pair(p.run.first, p.run.end); });
  for (const Part& part : parts)
    if (part.run.fingerprint != parts.front().run.fingerprint)
      throw report::StoreError(fmt::format("{} and {} are not of one run: {}",
                                           parts.front().file.string(), part.file.string(),
                                           difference(parts.front(), part)));
  Size next = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& run = parts[i].run;
    if (run.first > next)
      throw report::StoreError(fmt::format("points {} to {} of {} are missing: no shard holds them",
                                           next, run.first - 1, run.all));
    if (run.first < next)
      throw report::StoreError(fmt::format("points {} to {} are duplicates: in {} and {}",
                                           run.first, std::min(next, run.end) - 1,
                                           parts[i - 1].file.string(), parts[i].file.string()));
    next = run.end;
  }
  if (next < parts.front().run.all)
    throw report::StoreError(fmt::format("points {} to {} are missing: no shard holds them", next,
                                         parts.front().run.all - 1));
  return parts;
}

/// Drops longest contexts at other points of a line than its roomiest: a shard whose border divides
/// a line has one there. Returns the points that keep theirs.
std::vector<Size> keep_roomiest_contexts(std::vector<report::ModelRow>& lines) {
  std::vector<Size> kept;
  for (report::ModelRow& line : lines) {
    kept.push_back(line.roomiest().point);
    for (report::BudgetPoint& entry : line.entries)
      if (entry.point != kept.back()) entry.longest_context.reset();
  }
  std::ranges::sort(kept);
  return kept;
}

int run_merge(const Options& options) {
  const auto files = files_of(options);
  const Log log(options);
  std::vector<Part> parts;
  for (const auto& file : files) parts.push_back(part_of(file));
  parts = checked(std::move(parts));
  std::error_code error;
  fs::path folder = options.text("out");
  if (folder.empty()) {
    folder = options.operands().front();
    if (!fs::is_directory(folder, error))
      throw UsageError("--out FOLDER is needed for results.sqlite");
  }
  const fs::path file = folder / "results.sqlite";
  for (const Part& part : parts)
    if (fs::equivalent(part.file, file, error))
      throw UsageError(fmt::format("{}: is a shard itself; choose another --out", file.string()));
  const auto info = report::Database(parts.front().file).run(parts.front().run.id);
  const report::CsvFile csv = csv_of(options, info.spec);
  const auto start = std::chrono::steady_clock::now();
  report::Store store(file);
  report::require_sound(file);
  store.begin_run(info);
  const auto at_border = [&](const Part& p) { return p.run.first == store.next_point(); };
  if (store.next_point() < store.end_point() && std::ranges::none_of(parts, at_border))
    store.begin_run(info, report::Unfinished::leave);
  const Size first = store.next_point();
  for (const Part& part : parts)
    if (part.run.first >= first) store.adopt(part.file, part.run.id);
  store.finish_run();
  const report::Database database(file);
  report::Source source = report::source_of(database, store.run_id());
  store.limit_longest_contexts_to(keep_roomiest_contexts(source.lines));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return end_run(std::move(store), file, folder,
                 {.from = first,
                  .seconds = took.count(),
                  .draw = !options.given("no-plots"),
                  .csv = csv,
                  .read = &source},
                 log);
}

}  // namespace

const Command merge_command = {
    {.name = "merge",
     .summary = "merge the shards of a sweep into one run",
     .operands = "FOLDER|SHARD.sqlite…",
     .flags = "no-plots csv log-format out",
     .examples = "headroom sweep big.toml --shard 1/2 && headroom sweep big.toml --shard 2/2\n"
                 "headroom merge out/big\n"
                 "headroom merge a/1-of-2.sqlite b/2-of-2.sqlite --out /data/big",
     .columns = "results.sqlite and its reports, as the sweep without shards writes them.\n"
                "Shards of different specs, versions or catalogues are refused. So are "
                "missing,\nduplicate or unfinished points.",
     .exit_codes = usual_exit_codes},
    run_merge};

}  // namespace headroom::sweep
