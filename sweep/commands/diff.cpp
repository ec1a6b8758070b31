// headroom diff: what changed between two runs, and why.
#include "report/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <sstream>

#include "report/condition.hpp"
#include "report/document.hpp"
#include "report/nights.hpp"
#include "report/words.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/output.hpp"
#include "sweep/run/database_operand.hpp"
#include "sweep/run/diff_alert.hpp"
#include "sweep/screen/diff_screen.hpp"
#include "sweep/stream.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;

/// [DATABASE] [RUN_A RUN_B]: operands that are numbers are runs.
struct Asked {
  fs::path file;
  std::vector<std::int64_t> runs;
};

/// The one database below out/, where none is named.
fs::path only_database() {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("out", error))
    if (fs::exists(entry.path() / "results.sqlite", error))
      found.push_back(entry.path() / "results.sqlite");
  if (found.size() == 1) return found.front();
  throw UsageError(
      fmt::format("which database? out/ holds {}; name a file or its folder: headroom "
                  "diff out/nightly",
                  found.empty() ? "none" : "several"));
}

Asked asked_of(const Options& options) {
  Asked asked;
  for (const auto& operand : options.operands()) {
    if (!operand.empty() && operand.find_first_not_of("0123456789") == std::string::npos &&
        operand.size() < 10)
      asked.runs.push_back(std::stoll(operand));
    else if (asked.file.empty())
      asked.file = database_file(operand);
    else
      throw UsageError(
          fmt::format("give one database; found {} and {}", asked.file.string(), operand));
  }
  if (asked.runs.size() == 1 || asked.runs.size() > 2)
    throw UsageError(
        fmt::format("give two runs, or none for the last two; found {}", asked.runs.size()));
  if (asked.file.empty()) asked.file = only_database();
  return asked;
}

double threshold_of(const Options& options) {
  const auto given = options.read("threshold", [](const std::string& text) {
    std::size_t used = 0;
    double value = -1;
    try {
      value = std::stod(text, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used != text.size() || !(value >= 0))
      throw std::invalid_argument(fmt::format("found '{}', expected a share from 0: 0.05", text));
    return value;
  });
  return given.value_or(report::usual_threshold);
}

std::string as_json(const report::Diff& diff, const std::optional<Alert>& alert) {
  boost::json::array inputs;
  for (const auto& each : diff.inputs())
    inputs.push_back(boost::json::object{{"cause", each.cause},
                                         {"what", each.what},
                                         {"how", each.how},
                                         {"before", each.before},
                                         {"after", each.after},
                                         {"unit", each.unit}});
  const auto counts = diff.for_each([](const report::PointChange&) {});
  const auto run = [](const report::RunSummary& r) {
    return boost::json::object{{"run", r.id}, {"finished", r.finished}, {"version", r.version}};
  };
  boost::json::value fail_if;
  if (alert)
    fail_if = boost::json::object{{"count", alert->count},
                                  {"of", alert->of_ways ? "best ways" : "points"},
                                  {"models", alert->models},
                                  {"first", alert->first}};
  return pretty(boost::json::object{{"fail_if", fail_if},
                                    {"before", run(diff.before().run)},
                                    {"after", run(diff.after().run)},
                                    {"best_ways", json_rows(report::best_ways_table(diff))},
                                    {"decisions", json_rows(report::decisions(diff))},
                                    {"inputs", inputs},
                                    {"same", counts.same},
                                    {"below_threshold", counts.below},
                                    {"verdicts", counts.verdicts},
                                    {"numbers", counts.numbers},
                                    {"came", counts.added},
                                    {"went", counts.removed}});
}

int run_diff(const Options& options) {
  const Asked asked = asked_of(options);
  std::optional<report::Condition> condition;
  if (options.given("fail-if")) condition.emplace(alert_condition(options.text("fail-if")));
  const double threshold = threshold_of(options);
  const Format format = format_of(options);
  refuse_details_outside_text(options, format);
  const report::Database database(asked.file);
  auto runs = asked.runs;
  if (runs.empty()) {
    const auto latest = database.latest_run();
    const auto before = report::run_before(database, latest);
    if (!before) {
      // The first night of an unattended job is no failure.
      fmt::print(stderr, "note: run {} is the first of its name: there is nothing to compare\n",
                 latest);
      return done;
    }
    runs = {*before, latest};
  }
  const report::Diff diff(database, runs[0], runs[1], threshold);
  std::optional<Alert> alert;
  if (condition) alert = alert_of(diff, options.text("fail-if"), *condition);
  if (format == Format::csv) {
    stream(options, [&](std::ostream& out) { report::write_diff_csv(out, diff); });
  } else if (format == Format::json) {
    emit(options, as_json(diff, alert));
  } else if (format == Format::jsonl) {
    emit(options, formatted(report::decisions(diff), format));
  } else if (format == Format::text) {
    emit(options, diff_screen(diff, options.given("details") ? ScreenLength::details
                                                             : ScreenLength::short_screen));
  } else {
    emit(options, report::to_markdown(report::diff_document(diff)));
  }
  if (!alert || alert->count == 0) return done;
  fmt::print(stderr, "{}\n", alert_words(*alert));
  return answer_is_no;
}

}  // namespace

const Command diff_command = {
    {.name = "diff",
     .summary = "show the changes between two runs, with their causes",
     .operands = "[DATABASE|FOLDER] [RUN_A RUN_B]",
     .flags = "threshold fail-if details format out",
     .examples =
         "headroom diff out/nightly\n"
         "headroom diff out/nightly --fail-if \"old.best_verdict = 'fits' and new.best_verdict <> "
         "'fits'\"\n"
         "headroom diff out/nightly --fail-if \"new.best_verdict not in ('fits', 'tight')\"\n"
         "headroom diff out/nightly 3 7 --format csv --out changes.csv\n"
         "headroom diff out/nightly --fail-if 'new.best_tokens_s < 0.95 * old.best_tokens_s'",
     .columns =
         "text: counts, the best way of each model before and after, inputs that changed;\n"
         "  with --details every answer that changed\n"
         "md: best ways, decisions and inputs that changed, points by kind and cause\n"
         "csv: one row a changed point: change (verdict, number, came, went), cause, the column\n"
         "  that changed most and its share, the axes, and every number as NAME_old, NAME_new\n"
         "json: what --fail-if matched, best ways, decisions, inputs and counts; jsonl: decisions\n"
         "--fail-if: the columns of result as old.NAME and new.NAME, and of the best way of the\n"
         "  model on the machine: best_verdict (fits, tight, offload, does not fit, refused),\n"
         "  best_precision, best_runtime, best_tokens_s, best_gpus_used,\n"
         "  best_cost_per_million, best_rank (by that cost, 1 the cheapest machine of the model);\n"
         "  NULL if a point is new or gone; one line on standard error says what matched",
     .exit_codes = "0 done\n1 failed: no such run, a file that cannot be read or written\n"
                   "2 usage: an option or a column is not understood\n"
                   "3 the condition of --fail-if holds"},
    run_diff};

}  // namespace headroom::sweep
