// headroom accuracy: estimates against published measurements.
#include <boost/json.hpp>

#include "sweep/accuracy/report.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

int run_accuracy(const Options& options) {
  if (options.operands().empty())
    throw UsageError("which FILE? A CSV of canonical rows; tests/accuracy/canonical has some");
  const Format format = format_of(options);
  refuse_details_outside_text(options, format);
  const Accuracy accuracy = score(options.operands(), options.text("models"));
  if (format == Format::text)
    emit(options, accuracy_text(accuracy, options.given("details") ? LeftOutRows::by_reason
                                                                   : LeftOutRows::counted));
  else if (format == Format::markdown)
    emit(options, accuracy_page(accuracy));
  else if (format == Format::json)
    emit(options, pretty(accuracy_object(accuracy)));
  else
    emit(options, formatted(accuracy_rows(accuracy), format));
  return done;
}

}  // namespace

const Command accuracy_command = {
    {.name = "accuracy",
     .summary = "compare estimates with published measurements",
     .operands = "FILE.csv…",
     .flags = "models details format out",
     .examples = "headroom accuracy tests/accuracy/canonical/inference_memory.csv\n"
                 "headroom accuracy tests/accuracy/canonical/*.csv --format md --out ACCURACY.md\n"
                 "headroom accuracy mine.csv --models ./configs --json",
     .columns = "text, json: rows, eligible, scored, skipped (id, reason), groups (group, n,\n"
                "      median, p90, bias, coverage, interval_width; for fit_verdict and\n"
                "      training_verdict: n, wrong_sure, marginal, precision, recall)\n"
                "csv, jsonl: one row a measurement: id, file, group, runtime, source, grade,\n"
                "      measured, expected, low, high (bytes or seconds), error, plain, reason\n"
                "md: the page, with sources, engines and worst rows",
     .exit_codes = usual_exit_codes},
    run_accuracy};

}  // namespace headroom::sweep
