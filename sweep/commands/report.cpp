// headroom report: tables and curves again, from a database alone.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "report/condition.hpp"
#include "report/csv.hpp"
#include "report/nights.hpp"
#include "report/open_metrics.hpp"
#include "report/reports.hpp"
#include "report/view.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/output.hpp"
#include "sweep/run/database_operand.hpp"
#include "sweep/run/sweep_end.hpp"
#include "sweep/stream.hpp"

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

std::vector<const report::Column*> selected_columns(const Options& options,
                                                    const report::RunInfo& run) {
  std::vector<const report::Column*> selected;
  std::vector<std::string> known;
  for (const auto& column : report::columns()) known.emplace_back(column.name);
  for (const auto& list : options.texts("columns")) {
    std::istringstream names(list);
    for (std::string name; std::getline(names, name, ',');) {
      const auto* column = report::find_column(name);
      if (!column) throw unknown_name("column", name, known);
      selected.push_back(column);
    }
  }
  return selected.empty() ? report::columns_of(run) : selected;
}

/// --where and --columns: rows of one run, as a stream.
void rows(const Options& options, const report::Database& database, std::int64_t run) {
  const auto selected = selected_columns(options, database.run(run));
  std::optional<report::Condition> where;
  if (options.given("where"))
    where.emplace(options.text("where"), std::vector<std::string>{"result"});
  if (const std::string format = options.text("format", "csv"); format != "csv")
    throw UsageError(
        fmt::format("--format {}: --where and --columns write csv alone; --view NAME "
                    "--format json prints a table as JSON",
                    format));
  stream(options, [&](std::ostream& out) {
    report::write_csv(out, database, run, selected, where ? &*where : nullptr);
  });
}

/// --trend: the one point of the run for which the condition holds, over the runs.
void trend(const Options& options, const report::Database& database, std::int64_t run) {
  const report::Condition condition(options.text("trend"), {"result"});
  const report::Axes axes(database.run(run));
  std::vector<Size> points;
  std::vector<report::Cell> cells(condition.columns_read().size());
  database.for_each(run, [&](Size point, const model::Estimate& estimate) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto& column = *condition.columns_read()[i].column;
      cells[i] = axes.cell(column, point, estimate,
                           column.kind == report::ColumnKind::derived ? axes.factors(point)
                                                                      : model::IntervalFactors{});
    }
    if (points.size() < 6 && condition.holds(cells)) points.push_back(point);
  });
  if (points.size() != 1)
    throw UsageError(
        fmt::format("--trend: '{}' holds for {} points, expected one{}", options.text("trend"),
                    points.size() == 6 ? "more than five" : std::to_string(points.size()),
                    points.empty() ? "" : fmt::format(": point {}", fmt::join(points, ", "))));
  std::vector<const report::Column*> followed;
  for (const auto* name : {"verdict", "gpu_bytes", "load_s", "ttft_s", "tpot_s", "tokens_s"})
    followed.push_back(report::find_column(name));
  if (options.given("columns")) followed = selected_columns(options, database.run(run));
  report::Table table{{"run", "finished", "version"}, {}};
  for (const auto* column : followed) {
    if (column->kind == report::ColumnKind::axis || column->kind == report::ColumnKind::point)
      throw UsageError(fmt::format(
          "--columns with --trend: '{}' says which point it is, the same in each run; outcomes, "
          "facts and prices are expected, such as tokens_s, gpu_memory_bytes, rent_per_hour",
          column->name));
    table.names.emplace_back(column->name);
  }
  for (auto& night : report::Nights(database, run, 1000).of(points.front(), followed)) {
    auto& row = table.rows.emplace_back(
        std::vector<report::Value>{night.run.id, night.run.finished, night.run.version});
    row.insert(row.end(), night.values.begin(), night.values.end());
  }
  emit(options, formatted(table, format_of(options)));
}

/// Throws UsageError for those of `flags` that were given: `printed` leaves them without effect.
void refuse_with(const Options& options, std::string_view printed, std::string_view flags) {
  for (const std::string_view flag : headroom::words(flags))
    if (options.given(flag))
      throw UsageError(fmt::format("--{} has no effect with {}", flag, printed));
}

/// Flags that print rows instead of writing files into a folder, and those of the files.
constexpr std::string_view flags_of_rows = "view where columns trend",
                           flags_of_folders = "no-plots all-plots csv";

/// --format openmetrics: the best ways of a run.
void metrics(const Options& options, const report::Database& database, std::int64_t run) {
  for (const std::string_view flags : {flags_of_rows, flags_of_folders})
    refuse_with(options,
                "--format openmetrics, which prints the best way of each model on each machine",
                flags);
  const report::Source source = report::source_of(database, run);
  stream(options, [&](std::ostream& out) { report::write_open_metrics(out, source); });
}

/// Every file of a run's reports, where they are not there already.
void write_folder(const Options& options, const report::Database& database, std::int64_t run) {
  const fs::path named =
      options.given("out") ? fs::path(options.text("out")) : database.file().parent_path();
  const fs::path folder = named.empty() ? fs::path(".") : named;
  const auto figures = options.given("no-plots")    ? report::Figures::skip
                       : options.given("all-plots") ? report::Figures::draw_all
                                                    : report::Figures::draw;
  const report::CsvFile csv = csv_of(options, database.run(run).spec);
  const auto mark = report::unchanged_reports(database.file(), folder, figures, csv);
  std::vector<fs::path> files;
  if (mark && mark->run == run) {
    fmt::print(stderr,
               "note: nothing changed since these files were written; they are as they were\n");
    files = report::files_there(folder);
  } else {
    report::require_sound(database.file());
    auto written = report::write_reports(database, run, folder, figures, csv);
    for (const auto& note : written.notes) fmt::print(stderr, "note: {}\n", note);
    files = std::move(written.files);
  }
  for (const auto& path : files) fmt::print("{}\n", (named / path).string());
}

int run_report(const Options& options) {
  if (options.text("view") == "list") {
    refuse_with(options, "--view list", "run runs where columns trend");
    refuse_with(options, "--view list", flags_of_folders);
    emit(options, views_text(format_of(options)));
    return done;
  }
  const fs::path file = database_operand(options);
  const report::Database database(file);
  options.exclusive({"runs", "view", "where"});
  options.exclusive({"runs", "view", "columns"});
  options.exclusive({"runs", "view", "where", "trend"});
  if (options.given("runs")) {
    refuse_with(options, "--runs", "run");
    refuse_with(options, "--runs", flags_of_folders);
    emit(options, runs_text(database, format_of(options)));
    return done;
  }
  const std::int64_t run = options.given("run") ? options.whole("run", 0) : database.latest_run();
  const bool as_metrics = options.text("format") == "openmetrics";
  bool prints = as_metrics;
  for (const std::string_view flag : headroom::words(flags_of_rows)) {
    if (!options.given(flag)) continue;
    prints = true;
    if (!as_metrics)
      refuse_with(options, fmt::format("--{}, which writes no files", flag), flags_of_folders);
  }
  if (prints) report::require_sound(file);
  if (as_metrics) {
    metrics(options, database, run);
    return done;
  }
  if (options.given("trend")) {
    trend(options, database, run);
    return done;
  }
  if (options.given("where") || options.given("columns")) {
    rows(options, database, run);
    return done;
  }
  if (options.given("view")) {
    const auto& view = report::view(options.text("view"));
    emit(options, formatted(database.query(std::string(view.sql), run), format_of(options)));
    return done;
  }
  if (options.text("format") == "parquet")
    throw UsageError("--format parquet: examples/export/to_parquet.py FOLDER writes it");
  if (options.given("format"))
    throw UsageError(
        "--format has no effect without --view or --runs: a folder has all formats; --view NAME "
        "--format json prints a table, --format openmetrics the best ways as metrics");
  options.exclusive({"no-plots", "all-plots"});
  write_folder(options, database, run);
  return done;
}

}  // namespace

const Command report_command = {
    {.name = "report",
     .summary = "write tables and curves of a run from its database",
     .operands = "DATABASE|FOLDER",
     .operand_help = "For Prometheus: --format openmetrics. For Parquet: "
                     "examples/export/to_parquet.py reads the database.",
     .flags = "run runs view where columns trend no-plots all-plots csv format out",
     .examples = "headroom report out/nightly\n"
                 "headroom report out/nightly --runs\n"
                 "headroom report out/nightly --format openmetrics\n"
                 "headroom report --view list\n"
                 "headroom report out/nightly --view fastest --format csv\n"
                 "headroom report out/nightly --where \"tokens_s > 20 and model like 'Qwen%'\" "
                 "--columns model,precision,tokens_s\n"
                 "headroom report out/nightly --trend \"point = 17\"\n"
                 "headroom report out/nightly --trend \"point = 17\" --columns rent_per_hour\n"
                 "headroom report results.sqlite --run 3 --out /tmp/third",
     .columns = "files written, one a line; with --view or --runs the rows themselves.\n"
                "--where, --columns: points as CSV (RFC 4180), in bounded memory\n"
                "--trend: one row a run: run, finished, version, then the columns asked for\n"
                "--format openmetrics: OpenMetrics 1.0 text; the best way of each model on each\n"
                "  machine, as diff compares them, with labels model, machine, precision, runtime\n"
                "meaning of columns: sqlite3 FILE 'select * from column_meaning'",
     .exit_codes = usual_exit_codes},
    run_report};

}  // namespace headroom::sweep
