// headroom report: tables and curves again, from a database alone.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "report/reports.hpp"
#include "report/view.hpp"
#include "sweep/command.hpp"
#include "sweep/database_operand.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;

std::string runs_text(const report::Database& database, Format format) {
  report::Table table{{"run", "name", "points", "reused", "started", "finished", "version"}, {}};
  for (const auto& run : database.runs())
    table.rows.push_back({run.id, run.name, run.points, run.reused, run.started,
                          run.finished.empty() ? "unfinished, at point " + std::to_string(run.next)
                          : run.complete()     ? run.finished
                                           : fmt::format("{}, shard {} to {} of {}", run.finished,
                                                         run.first, run.end - 1, run.all),
                          run.version});
  return formatted(table, format);
}

std::string views_text(Format format) {
  report::Table table{{"view", "question", "caption"}, {}};
  for (const auto& view : report::views())
    table.rows.push_back(
        {std::string(view.name), std::string(view.title), std::string(view.caption)});
  return formatted(table, format);
}

int run(const Options& options) {
  if (options.text("view") == "list") {
    emit(options, views_text(format_of(options)));
    return done;
  }
  const fs::path file = database_operand(options);
  const report::Database database(file);
  options.exclusive({"runs", "view"});
  if (options.given("runs")) {
    emit(options, runs_text(database, format_of(options)));
    return done;
  }
  const std::int64_t run = options.given("run") ? options.whole("run", 0) : database.latest_run();
  if (options.given("view")) {
    const auto& view = report::view(options.text("view"));
    emit(options, formatted(database.query(std::string(view.sql), run), format_of(options)));
    return done;
  }
  if (options.given("format"))
    throw UsageError("--format has no effect without --view or --runs: a folder has all formats");
  const fs::path folder = options.given("out") ? fs::path(options.text("out")) : file.parent_path();
  const auto written = report::write_reports(
      database, run, folder.empty() ? fs::path(".") : folder,
      options.given("no-plots") ? report::Figures::skip : report::Figures::draw);
  for (const auto& note : written.notes) fmt::print(stderr, "note: {}\n", note);
  for (const auto& path : written.files) fmt::print("{}\n", (folder / path).string());
  return done;
}

}  // namespace

const Command report_command = {
    {.name = "report",
     .summary = "tables and curves of a run, from its database alone",
     .operands = "DATABASE|FOLDER",
     .flags = "run runs view no-plots format out",
     .examples = "headroom report out/nightly\n"
                 "headroom report out/nightly --runs\n"
                 "headroom report --view list\n"
                 "headroom report out/nightly --view fastest --format csv\n"
                 "headroom report results.sqlite --run 3 --out /tmp/third",
     .columns = "files written, one a line; with --view or --runs the rows themselves.\n"
                "What a column means: sqlite3 FILE 'select * from column_meaning'",
     .exit_codes = usual_exit_codes},
    run};

}  // namespace headroom::sweep
