// headroom curve: what each GiB of GPU memory buys.
#include "sweep/curve/curve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "hardware/quantity_text.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/plot.hpp"
#include "report/words.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/options/flags.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/options/split_options.hpp"
#include "sweep/options/way_options.hpp"
#include "sweep/output.hpp"
#include "sweep/plan/runnable_models.hpp"
#include "sweep/screen/fewer_note.hpp"
#include "sweep/screen/verdict_text.hpp"

namespace headroom::sweep {
namespace {

/// Nothing: a layer. Throws std::invalid_argument.
std::optional<Bytes> step_of(std::string_view text) {
  if (text == "layer") return std::nullopt;
  try {
    const Bytes step = parse_bytes(text);
    if (step > Bytes(0)) return step;
  } catch (const std::invalid_argument&) {
    // said below
  }
  throw std::invalid_argument(
      fmt::format("found '{}', expected layer, or an amount of memory such as 1GiB", text));
}

/// Values of `several` (--precisions), else the one of `single` (--precision).
std::vector<std::string> named(const Options& options, std::string_view several,
                               std::string_view single, std::string_view fallback) {
  options.exclusive({several, single});
  std::vector<std::string> all = options.texts(several);
  if (all.empty()) all.push_back(options.text(single, fallback));
  return all;
}

/// The lines, and what they point to.
struct Lines {
  std::vector<std::shared_ptr<const model::QuantisedModel>> weights;
  std::vector<CurveLine> lines;
  std::vector<std::string> refused;  ///< combinations that cannot be, with the reason
};

/// Engines of a precision: those that were asked for, else the best that was compared with it, else
/// the scenario's.
std::vector<std::string> engines_of(const Options& options, const GivenScenario& given,
                                    const std::string& precision) {
  if (options.given("runtimes")) return options.texts("runtimes");
  const auto best = std::ranges::find_if(given.ways, [&](const Way& way) {
    return precision == "auto" ? way.is_own() : way.weights->scheme == &model::scheme(precision);
  });
  // One alone may be built for a back end.
  const auto* engine = best == given.ways.end() ? given.scenario.runtime : best->engine;
  return {std::string(engine->name)};
}

Lines lines_of(const Options& options, const GivenScenario& given) {
  if (options.given("runtimes")) options.exclusive({"runtimes", "runtime"});
  const std::string chosen = given.ways.empty() ? "auto" : std::string(given.weights->scheme->name);
  const auto precisions = named(options, "precisions", "precision", chosen);
  const auto step = options.read("step", step_of).value_or(std::nullopt);
  Lines all;
  HeldWeights held(*given.model);
  for (const auto& precision : precisions) {
    for (const auto& name : engines_of(options, given, precision)) {
      model::Scenario s = given.scenario;
      if (is_on_cpu_by_choice(options, s)) s.gpu_budget = model::unlimited;
      s.runtime = &given.engines->named(name);
      const model::Scheme* asked = precision == "auto" ? nullptr : &model::scheme(precision);
      const model::Scheme& scheme =
          model::loaded_scheme(*given.model, asked, *s.runtime, model::computing_machine(s));
      all.weights.push_back(held.in(scheme, *s.runtime));
      s.weights = all.weights.back().get();
      std::string label = fmt::format("{}, {}", scheme.name, s.runtime->name);
      if (!s.weights->refusal.empty()) {
        all.refused.push_back(refusal_text(s));
        continue;
      }
      try {
        CurveLine line = curve_line(s, label, step);
        const model::Estimate& last = line.points.back().estimate;
        if (last.verdict == model::Verdict::refused)
          all.refused.push_back(refusal_text(s));
        else
          all.lines.push_back(std::move(line));
      } catch (const std::invalid_argument& e) {
        throw UsageError(e.what());
      }
    }
  }
  return all;
}

/// curve --all: nothing that is of one model means anything.
int run_all(const Options& options) {
  if (!options.operands().empty() || options.given("model"))
    throw UsageError("--all lists the catalogue; leave out MODEL");
  for (const auto flag :
       {"precision", "runtimes", "step", "plots", "gpu-budget", "gpu-memory-utilization",
        "ram-budget", "disk-budget", "load-full-model", "details"})
    if (options.given(flag)) throw UsageError(fmt::format("--{} has no effect with --all", flag));
  for (const Flag& flag : flags())
    if (options.given(flag.name) && !custom_flag(flag.name).empty())
      throw UsageError(fmt::format("--{} has no effect with --all", flag.name));
  return runnable_models(options);
}

int run_curve(const Options& options) {
  if (options.given("all")) return run_all(options);
  options.requires_flag("top", "all");
  const Format format = format_of(options);
  refuse_details_outside_text(options, format);
  // Keys that the list does not name belong to the scenario.
  GivenScenario given = scenario_of(options);
  if (!given.on_machine)
    throw UsageError(
        "which machine? give --machine, or --gpu-memory: a curve is for one "
        "machine");
  if (!given_splits(options).empty())
    throw UsageError("a curve moves the layers itself: options that place them have no effect");
  given.scenario.layer_split = nullptr;
  const Lines all = lines_of(options, given);
  if (all.lines.empty()) {
    fmt::print(stderr, "headroom: {}\n", fmt::join(all.refused, "; "));
    return answer_is_no;
  }
  for (const auto& line : all.refused) fmt::print(stderr, "note: {}\n", line);
  if (options.given("plots")) {
    const auto written = report::draw({figure_of(given, all.lines)}, options.text("plots"));
    for (const auto& file : written)
      fmt::print(stderr, "wrote {}\n",
                 (std::filesystem::path(options.text("plots")) / file).string());
    if (!report::gnuplot_found())
      fmt::print(stderr,
                 "note: gnuplot is not on the path: only the script and its data are written\n");
  }
  if (format == Format::text && options.given("details"))
    emit(options, curve_text(given, all.lines));
  else if (format == Format::text)
    emit(options, curve_screen(given, all.lines,
                               fewer_notes(options, given, model::evaluate(given.scenario))));
  else if (format == Format::json)
    emit(options, pretty(curve_object(given, all.lines)));
  else if (format == Format::jsonl)
    emit(options, boost::json::serialize(curve_object(given, all.lines)) + '\n');
  else
    emit(options, formatted(curve_table(all.lines), format));
  const bool runs =
      std::ranges::any_of(all.lines, [](const auto& l) { return l.first.has_value(); });
  return runs ? done : answer_is_no;
}

}  // namespace

const Command curve_command = {
    {.name = "curve",
     .summary = "show load time, first token and tokens/s against GPU memory",
     .operands = "MODEL | --all",
     .flags = HEADROOM_SCENARIO_FLAGS " " HEADROOM_CUSTOM_FLAGS " " HEADROOM_MACHINE_FLAGS
                                      " precisions runtimes step plots all top details format out",
     .examples =
         "headroom curve facebook/opt-30b --gpu-memory 8GB --gpu-bandwidth 272GB/s --ram 32GB\n"
         "headroom curve llama2-7b --machine rtx-4090 --precisions fp16 int8 --step 1GiB\n"
         "headroom curve Qwen/Qwen2.5-32B --machine rtx-4090 --precision q4_K_M "
         "--runtime llama.cpp --plots out\n"
         "headroom curve --all --machine local\n"
         "headroom curve openai/gpt-oss-120b --machine '2x a100-sxm-40gb' --format csv",
     .columns =
         "a row for each allocation, as estimate --gpu-budget gives it. Columns:\n"
         "  runtime, precision,\n"
         "  gpu_budget_bytes (on each card); found: least that runs, knee (95 % of the best "
         "tokens/s),\n"
         "  returns diminish (a GiB more adds at most 1 % of it), recommended (the least with 95 "
         "%\n"
         "  of the best speed of a whole answer, on the card even if memory is at the high end);\n"
         "  jump: the change there; layers on each device; the columns of `result` for verdict, "
         "memory and times;\n"
         "  tokens_s_low and _high, ttft_s_, load_s_: the 80 % interval; gain_tokens_s_per_gib: "
         "over "
         "the row\n"
         "  before, per GiB on each card; strategy: weights that go to the cards first;\n"
         "  placement: accelerate's device map, or llama.cpp's -ngl and --n-cpu-moe\n"
         "json: the rows by line, with least_bytes, knee_bytes, returns_diminish_bytes,\n"
         "  recommended_bytes, most_max_memory_bytes (more given to accelerate runs out of "
         "memory)\n"
         "--all: model, parameters, precision, download_bytes, verdict, times, qlora_bytes (peak "
         "of "
         "one\n  step on one card); --machine local counts memory that is free now",
     .exit_codes =
         "0 done\n1 failed: a file or a config that cannot be read, a figure that cannot be drawn\n"
         "2 usage: an option or a name that is not understood\n3 no: it runs at no allocation"},
    run_curve};

}  // namespace headroom::sweep
