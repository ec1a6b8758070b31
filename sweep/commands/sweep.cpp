// headroom sweep: a spec in, a database and its reports out.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <csignal>

#include "hardware/text_file.hpp"
#include "model/engine/engine.hpp"
#include "report/read.hpp"
#include "report/reports.hpp"
#include "report/store.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/factors.hpp"
#include "sweep/grid/longest_contexts.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/output.hpp"
#include "sweep/progress.hpp"
#include "sweep/run/database_operand.hpp"
#include "sweep/run/dry_run.hpp"
#include "sweep/run/runner.hpp"
#include "sweep/run/sweep_end.hpp"
#include "sweep/run/unchanged.hpp"
#include "sweep/spec/job.hpp"

namespace headroom::sweep {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

/// While it lives, Ctrl-C and a polite kill ask for a stop at the next block; a second one kills.
class StopOnSignal {
 public:
  StopOnSignal() {
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted.store(true); };
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
  }
};

/// The spec of the command, with what flags override.
Spec given_spec(const Options& options) {
  if (options.operands().size() != 1)
    throw UsageError(fmt::format("one SPEC is needed; found {}", options.operands().size()));
  if (is_database(options.operands().front()))
    throw UsageError(fmt::format(
        "{}: is a database; expected a spec in TOML. `headroom report` and `headroom diff` read "
        "databases",
        options.operands().front()));
  Spec spec = read_spec(options.operands().front());
  if (options.given("out")) spec.out = options.text("out");
  if (options.given("prices")) spec.prices = options.text("prices");
  if (const auto csv = options.read("csv", csv_file_named)) spec.csv = *csv;
  for (const auto& file : spec.engines) model::add_engines(read_text_file(file), file.string());
  return spec;
}

std::shared_ptr<const Catalogue> given_catalogue(const Options& options, const Spec& spec) {
  std::vector<std::string> files(spec.hardware.begin(), spec.hardware.end());
  for (const auto& file : options.texts("hardware")) files.push_back(file);
  return catalogue_of(files);
}

/// Refuses the flags without effect, then prints what a run would do.
void print_dry_run(const Options& options, const Spec& spec, const Job& job) {
  for (const std::string_view flag : {"jobs", "fresh", "shard", "no-plots", "csv", "log-format"})
    if (options.given(flag))
      throw UsageError(fmt::format("--{} has no effect with --dry-run", flag));
  for (const std::string& note : job.notes) fmt::print(stderr, "note: {}\n", note);
  fmt::print("{}", dry_run_text(job, spec));
}

/// Evaluates what no earlier run has, and ends the run or the shard.
int run_job(const Options& options, const Spec& spec, const Job& job, Ending ending,
            const Log& log) {
  const int jobs = static_cast<int>(std::min<Size>(options.whole("jobs", 0), 1024));
  const auto shard = options.read(
      "shard", [&](const std::string& text) { return parse_shard(text, job.points()); });
  const auto file =
      shard ? shard_file(spec.out, options.text("shard")) : spec.out / "results.sqlite";
  report::Store store(file);
  report::require_sound(file);
  for (const std::string& note : job.notes) log.say("note", note, {});
  const report::RunInfo info = job.info(spec);
  const bool fresh = options.given("fresh");
  store.begin_run(info, fresh ? report::Unfinished::leave : report::Unfinished::resume, shard);
  const Size first = store.next_point(), total = store.end_point();
  if (first > (shard ? shard->first : 0))
    log.say("resumed",
            fmt::format("resuming run {} at point {} of {}", store.run_id(), grouped(first),
                        grouped(total)),
            {{"run", store.run_id()}, {"point", first}, {"end", total}});
  std::optional<Reuse> reuse;
  if (!fresh) reuse.emplace(report::Database(file), info);
  const StopOnSignal stopping;
  const auto start = std::chrono::steady_clock::now();
  Progress progress(first, total);
  const bool complete = sweep::run(job, store,
                                   {.jobs = jobs,
                                    .stop = &interrupted,
                                    .progress = [&](Size at) { progress.show(at); },
                                    .reuse = reuse ? &*reuse : nullptr});
  progress.clear();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!complete) {
    log.say("stopped",
            fmt::format("stopped at point {} of {}; repeat the command to continue",
                        grouped(store.next_point()), grouped(total)),
            {{"run", store.run_id()}, {"point", store.next_point()}, {"end", total}});
    return failed;
  }
  keep_longest_contexts(job, report::Database(file), store, reuse ? &*reuse : nullptr);
  ending.from = first;
  ending.seconds = took.count();
  ending.reused_from = reuse ? reuse->run() : 0;
  return shard ? end_shard(std::move(store), file, ending, log)
               : end_run(std::move(store), file, spec.out, ending, log);
}

/// Ends a night on which nothing has changed; false: something has, or may have.
bool ended_unchanged(const Spec& spec, const Ending& ending, const Log& log) {
  const auto start = std::chrono::steady_clock::now();
  const auto file = spec.out / "results.sqlite";
  const auto mark = report::unchanged_reports(file, spec.out, ending.figures(), ending.csv);
  if (!mark || mark->inputs != ending.inputs) return false;
  const auto run = repeat_latest_run(file, mark->fingerprint);
  if (!run) return false;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  end_unchanged(*run, *mark, file, spec.out, took.count(), log);
  return true;
}

int run_sweep(const Options& options) {
  const Spec spec = given_spec(options);
  const auto held = given_catalogue(options, spec);
  const Catalogue& catalogue = *held;
  const Hub hub(hub_flags(options));
  const auto job = [&] {
    return make_job(spec, catalogue, hub, std::make_shared<const Engines>(options));
  };
  if (options.given("dry-run")) {
    print_dry_run(options, spec, job());
    return done;
  }
  for (const std::string_view flag : {"no-plots", "csv"})
    if (options.given("shard") && options.given(flag))
      throw UsageError(
          fmt::format("--{} has no effect with --shard: merging writes the reports", flag));
  const Log log(options);
  Ending ending{.draw = !options.given("no-plots") && spec.plots, .csv = spec.csv};
  if (!options.given("shard")) {
    ending.inputs = inputs_of(options, spec, catalogue, hub);
    if (!options.given("fresh") && ended_unchanged(spec, ending, log)) return done;
    const auto mark = report::mark_of(spec.out);
    ending.rows_as_marked = mark && source_is_as_marked(*mark, spec.out / "results.sqlite");
  }
  return run_job(options, spec, job(), std::move(ending), log);
}

/// The keys of a [[grid]], as many to a line as fit.
std::string axes_words(model::Task task, std::string_view heading) {
  std::string text(heading);
  std::size_t start = 0;
  for (const std::string& key : axes_of(task)) {
    if (text.size() - start + key.size() > 96) {
      start = text.size() + 1;
      text += "\n ";
    }
    text += ' ' + key;
  }
  return text + '\n';
}

const std::string columns =
    axes_words(model::Task::inference, "axes of inference:") +
    "  served with the model, or 'none': adapters '4x16' (count, rank), images '2x1920x1080',\n"
    "  speculate 'mtp:2', 'draft:Llama-3.2-1B:5@0.7' (tokens a step, share kept), text_only "
    "'yes'\n"
    "  beside concurrencies: max_ttft_p95, max_tpot_p95 and max_e2e_p99 as '80ms', burstiness "
    "'0.5',\n"
    "  load_factor '80%'; serving_sustained_requests_s is the rate of random arrivals within "
    "them\n" +
    axes_words(model::Task::training, "axes of training (task = 'training'):") +
    "out/<name>/results.sqlite: tables run, model_source, result, result_all,\n"
    "  column_meaning; inference has ttft_s, tpot_s, total_s, load_s (with `concurrencies`,\n    "
    "serving_* under load), training has step_s,\n"
    "  mfu, tokens_s, peak_at and every term of memory\n"
    "gpu_budgets: sizes, shares of the largest card, max, max-2GiB; ranges with a step\n"
    "  ('0-max-2GiB+4GiB', '25%-100%+25%')\n"
    "out/<name>/index.html, results.csv (or .gz, .zst or none: --csv), compatibility.md and .csv,\n"
    "  precision.md, changes.md and .csv, curves, README.md\n"
    "points are taken from the last run if model, machine, engine and program are the same;\n"
    "  --fresh computes all of them, with the same content\n"
    "the reports stay as they are if nothing has changed since they were written\n"
    "llama.cpp keeps experts in host memory where cards have no room for them; `curve` gives the\n"
    "  number of layers (--n-cpu-moe)\n"
    "--dry-run: axes, number of points, expected time and size of results.sqlite, from a sample";

}  // namespace

const Command sweep_command = {
    {.name = "sweep",
     .summary = "evaluate every point of a spec into a database, with tables and curves",
     .operands = "SPEC",
     .operand_help =
         "SPEC is a file in TOML: [[grid]], then models = [\"Qwen/Qwen3-8B\"] and machines "
         "= [\"rtx-4090\", \"2x rtx-3090\"]; also precisions, runtimes, batches, "
         "gpu_budgets and the other axes of --help-all.",
     .flags = "dry-run jobs fresh shard hardware engines prices " HEADROOM_FACTOR_FLAGS
              " hub-token offline no-plots csv log-format out",
     .examples = "headroom sweep examples/nightly.toml\n"
                 "headroom sweep examples/nightly.toml --dry-run\n"
                 "headroom sweep big.toml --jobs 2 --out /data/big\n"
                 "headroom sweep big.toml --csv zst\n"
                 "headroom sweep big.toml --shard 3/16 --out /data/big\n"
                 "sqlite3 out/nightly/results.sqlite 'select count(*) from result'",
     .columns = columns,
     .exit_codes = "0 done\n1 failed, or stopped before the end: repeat the command to continue\n"
                   "2 usage: the spec, a name in it or an option is not understood"},
    run_sweep};

}  // namespace headroom::sweep
