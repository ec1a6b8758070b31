// headroom accuracy: estimates against published measurements.
#include "sweep/accuracy/report.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

int run_accuracy(const Options& options) {
  if (options.operands().empty())
    throw UsageError("which FILE? A CSV of canonical rows; tests/accuracy/canonical has some");
  const Format format = format_of(options);
  options.exclusive({"fit", "leave-one-out"});
  if (options.given("fit")) {
    if (options.given("format")) throw UsageError("--format has no effect with --fit: it is tsv");
    emit(options, fitted_constants(options.operands(), options.text("models")));
    return done;
  }
  if (options.given("leave-one-out") && (format == Format::text || format == Format::json))
    throw UsageError("--leave-one-out has no effect but with --format md, csv and jsonl");
  Accuracy accuracy = score(options.operands(), options.text("models"));
  if (options.given("leave-one-out")) leave_out(accuracy, options.text("models"));
  if (format == Format::text)
    emit(options, accuracy_text(accuracy));
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
     .flags = "models fit leave-one-out format out",
     .examples =
         "headroom accuracy tests/accuracy/canonical/inference_memory.csv\n"
         "headroom accuracy tests/accuracy/canonical/*.csv --format md --out ACCURACY.md\n"
         "headroom accuracy mine.csv --models ./configs --json\n"
         "headroom accuracy tests/accuracy/canonical/*.csv --fit --out model/engine/constants.tsv\n"
         "headroom accuracy tests/accuracy/canonical/training_speed.csv --fit --out "
         "model/train/training_pace.tsv",
     .columns =
         "text, json: rows, eligible, scored, skipped (id, reason), groups (group, n,\n"
         "      median, p90, bias, coverage, interval_width; of fit_verdict: n, wrong_sure,\n"
         "      marginal, precision, recall)\n"
         "csv, jsonl: one row a measurement: id, file, group, runtime, source, grade,\n"
         "      measured, expected, low, high (bytes or seconds), error, plain, reason; with\n"
         "      --leave-one-out without_set_up, without_model, without_source: expected by\n"
         "      other rows alone\n"
         "--fit: constants.tsv: runtime, constant, cards, width, value, low, high, measurements,\n"
         "      source; of training times alone training_pace.tsv, without width\n"
         "md: the page, with sources, engines and worst rows",
     .exit_codes = usual_exit_codes},
    run_accuracy};

}  // namespace headroom::sweep
