// headroom estimate: one point, in words and with every term.
#include "model/infer/estimate.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "model/answer/explain.hpp"
#include "model/engine/default_cache.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/columns.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/grid/digits.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/options/scenario_options.hpp"
#include "sweep/options/training_options.hpp"
#include "sweep/output.hpp"
#include "sweep/plan/gpus_needed.hpp"
#include "sweep/plan/smaller_model.hpp"
#include "sweep/run/result_row.hpp"
#include "sweep/screen/advice_words.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/screen/answer_text.hpp"
#include "sweep/screen/asked_note.hpp"
#include "sweep/screen/estimate_text.hpp"
#include "sweep/screen/fewer_note.hpp"
#include "sweep/screen/free_memory.hpp"
#include "sweep/screen/memory_screen.hpp"
#include "sweep/screen/predictor_note.hpp"
#include "sweep/screen/published_note.hpp"
#include "sweep/screen/sources_text.hpp"
#include "sweep/screen/speed_output.hpp"
#include "sweep/screen/traffic_output.hpp"
#include "sweep/spec/loaded_choice.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using model::Estimate;
using model::Explanation;

/// The row of `result` that a sweep would store for this point: every column, by name.
report::Table result_row(const GivenScenario& given, const Estimate& estimate) {
  model::Scenario s = given.scenario;
  s.kv_precision = model::cache_precision(s);
  Choice choice{.model = s.weights->model, .decides = s};
  choice.as_published = is_as_published(choice, choice, choice);
  report::Digit axes = columns_of({choice});
  const auto add = [&](std::string_view name, report::AxisValue value) {
    axes.push_back({std::string(name), {std::move(value)}});
  };
  add("task", std::string("inference"));
  add("kv_cache", std::string(s.kv_cache ? "on" : "off"));
  if (s.ram_budget != model::unlimited) add("ram_budget_bytes", s.ram_budget.count());
  if (s.disk_budget != model::unlimited) add("disk_budget_bytes", s.disk_budget.count());
  return sweep::result_row(axes, estimate, model::interval_factors(s));
}

json::array lines(const std::vector<std::string>& texts) {
  json::array all;
  for (const auto& text : texts) all.emplace_back(text);
  return all;
}

json::object device_object(const model::DeviceUse& use) {
  json::object all{{"name", use.name},
                   {"kind", device_kind(use.where)},
                   {"capacity_bytes", use.capacity.count()},
                   {"budget_bytes", use.budget.count()},
                   {"weights_bytes", use.weights.count()},
                   {"kv_cache_bytes", use.kv_cache.count()},
                   {"activations_bytes", use.activations.count()},
                   {"overhead_bytes", use.overhead.count()},
                   {"total_bytes", use.total.count()},
                   {"layers", use.layers}};
  all["first_layer"] = use.first_layer < 0 ? json::value(nullptr) : json::value(use.first_layer);
  all["last_layer"] = use.last_layer < 0 ? json::value(nullptr) : json::value(use.last_layer);
  return all;
}

json::object term_object(const model::Term& term) {
  const auto number = [&](double value) {
    return term.unit == model::TermUnit::bytes ? json::value(static_cast<Size>(value))
                                               : json::value(value);
  };
  return {{"name", term.name},       {name_of(term.unit), number(term.expected)},
          {"low", number(term.low)}, {"high", number(term.high)},
          {"formula", term.formula}, {"numbers", term.numbers},
          {"source", term.source}};
}

/// The 80 % interval as factors on the expected value. Without measurements its evidence is
/// "unmeasured".
json::object interval_object(const model::Interval& of) {
  return {{"low", of.low},
          {"high", of.high},
          {"measurements", of.measurements},
          {"evidence", of.measurements > 0 ? "measured" : "unmeasured"}};
}

/// A compared way; times are null where it does not run.
json::object way_object(const Way& way) {
  const Estimate& e = way.estimate;
  const auto when_it_runs = [&](double value) {
    return model::fits(e.verdict) ? json::value(value) : json::value(nullptr);
  };
  return {{"runtime", way.engine->name},
          {"precision", way.weights->scheme->name},
          {"verdict", model::name_of(e.verdict)},
          {"tight", way.tight},
          {"gpus_used", e.gpus_used},
          {"gpu_bytes", e.gpu_bytes.count()},
          {"ttft_s", when_it_runs(e.ttft.value())},
          {"tokens_s", when_it_runs(e.tokens_s)}};
}

json::object object_of(const GivenScenario& given, const Explanation& explained,
                       const std::optional<model::Traffic>& serving) {
  const Estimate& e = explained.estimate;
  const model::ModelShape& shape = given.model->shape;
  json::object all;
  all["model"] = given.model->name;
  all["architecture"] = given.model->architecture;
  all["source"] = given.model->source;
  all["shape"] = json::object{
      {"hidden_size", shape.hidden_size}, {"layers", shape.layers},
      {"query_heads", shape.query_heads}, {"kv_heads", shape.kv_heads},
      {"head_dim", shape.head_dim},       {"intermediate_size", shape.intermediate_size},
      {"vocabulary", shape.vocabulary},   {"positions", shape.positions}};
  const model::CachePrecision cache = model::cache_precision(given.scenario);
  all["kv_precision"] = cache.name();
  all["kv_precision_reason"] = model::cache_reason(*given.weights, *given.scenario.runtime, cache);
  all["machine"] = given.on_machine ? json::value(given.machine->name) : json::value(nullptr);
  all["assumptions"] = json::array();
  for (const auto& line : explained.assumptions)
    if (given.on_machine || !line.starts_with("GPU budget"))
      all["assumptions"].as_array().emplace_back(line);
  for (const auto& line : given.assumed) all["assumptions"].as_array().emplace_back(line);
  all["warnings"] = lines(explained.warnings);
  all["notes"] = lines(given.on_machine ? explained.notes : std::vector<std::string>());
  const auto when_on_machine = [&](auto value) {
    return given.on_machine ? json::value(value) : json::value(nullptr);
  };
  all["verdict"] = when_on_machine(model::name_of(e.verdict));
  all["sure"] = when_on_machine(model::name_of(e.sure));
  all["reason"] = when_on_machine(model::name_of(e.reason));
  if (!given.on_machine) {
    all["band"] = memory_band(e.gpu_bytes);
    all["gpus_needed"] = gpus_needed_array(gpus_needed(given.scenario, shipped_catalogue()));
  }
  all["advice"] = advice_words(explained.advice);
  all["devices"] = json::array();
  if (given.on_machine)
    for (const auto& use : explained.devices)
      all["devices"].as_array().push_back(device_object(use));
  all["terms"] = json::array();
  for (const auto& term : explained.terms)
    if (given.on_machine || term.unit == model::TermUnit::bytes)
      all["terms"].as_array().push_back(term_object(term));
  if (given.on_machine) all["speed"] = speed_array(model::breakdown(given.scenario));
  if (given.on_machine) {
    const model::IntervalFactors of = model::interval_factors(given.scenario);
    const model::TimeIntervals times = of.times(e);
    all["intervals"] = json::object{{"memory", interval_object(of.used(e))},
                                    {"load", interval_object(times.load)},
                                    {"ttft", interval_object(times.ttft)},
                                    {"tpot", interval_object(times.tpot)}};
  }
  all["ways"] = json::array();
  for (const Way& way : given.ways) all["ways"].as_array().push_back(way_object(way));
  all["serving"] =
      serving ? json::value(traffic_object(*serving, given.scenario, e)) : json::value();
  if (given.on_machine) all["result"] = json_rows(result_row(given, e)).front();
  return all;
}

int run_estimate(const Options& options) {
  constexpr std::string_view tasks[] = {"inference", "training"};
  if (options.one_of("task", tasks, "inference") == "training") return estimate_training(options);
  refuse_training_flags(options);
  const Format format = format_of(options);
  const bool with_terms = options.given("explain");
  refuse_details_outside_text(options, format);
  if (with_terms && format != Format::text)
    throw UsageError("--explain has no effect here: json has the terms always, csv and md never");
  refuse_sources(options, format);
  const GivenScenario given = scenario_of(options);
  Explanation explained = model::explain(given.scenario);
  if (given.free) compare_with_free_memory(*given.free, given.scenario, explained);
  if (given.on_machine)
    if (auto smaller = smaller_model(given.scenario, explained.estimate,
                                     options.text("precision", "auto") == "auto"))
      explained.advice.push_back(std::move(*smaller));
  const auto predictors = given.on_machine ? predictor_note(given.scenario, explained.estimate)
                                           : std::optional<std::string>();
  std::vector<std::string> notes;
  if (given.on_machine)
    if (auto asked = asked_note(given.scenario)) notes.push_back(std::move(*asked));
  if (given.on_machine)
    if (auto published = published_note(given.scenario, explained.estimate))
      notes.push_back(std::move(*published));
  if (predictors) notes.push_back(*predictors);
  if (given.on_machine)
    for (auto& note : fewer_notes(options, given, explained.estimate))
      notes.push_back(std::move(note));
  explained.notes.insert(explained.notes.end(), notes.begin(), notes.end());
  if (!given.on_machine)
    for (const auto* flag : {"prompt-tokens-p95", "output-tokens-p95"})
      if (options.given(flag))
        throw UsageError(fmt::format("--{} has no effect without a machine", flag));
  const std::optional<model::Traffic> serving =
      given.on_machine ? traffic_of(options, given.scenario, explained.estimate) : std::nullopt;
  const bool screen = format == Format::text && !with_terms && !options.given("details");
  if (options.given("sources"))
    emit(options, title_line(given) + sources_text(sources_of(given, explained)));
  else if (screen)
    emit(options, given.on_machine ? answer_text(given, explained, serving, notes)
                                   : memory_screen(given, explained));
  else if (format == Format::text)
    emit(options,
         estimate_text(given, explained, serving, with_terms ? Terms::shown : Terms::hidden));
  else if (format == Format::json)
    emit(options, pretty(object_of(given, explained, serving)));
  else if (format == Format::jsonl)
    emit(options, json::serialize(object_of(given, explained, serving)) + '\n');
  else if (!given.on_machine)
    throw UsageError(
        "csv and md are rows of the result, which needs a machine: --machine or "
        "--gpu-memory");
  else
    emit(options, formatted(result_row(given, explained.estimate), format));
  const auto verdict = explained.estimate.verdict;
  const bool no = verdict == model::Verdict::does_not_fit || verdict == model::Verdict::refused;
  return given.on_machine && no ? answer_is_no : done;
}

}  // namespace

const Command estimate_command = {
    {.name = "estimate",
     .summary = "estimate memory, placement and speed of one model on one machine",
     .operands = "MODEL",
     .flags = HEADROOM_SCENARIO_FLAGS " " HEADROOM_CUSTOM_FLAGS " " HEADROOM_MACHINE_FLAGS
                                      " " HEADROOM_TRAINING_FLAGS " " HEADROOM_COMPANION_FLAGS
                                      " " HEADROOM_TRAFFIC_FLAGS
                                      " task details explain sources format out",
     .examples =
         "headroom estimate Qwen/Qwen3-32B --machine '2x a100-sxm-40gb @ dual-epyc-120gb'\n"
         "headroom estimate llama3-8b --device rtx-4090 --precision q4_K_M --runtime llama.cpp\n"
         "headroom estimate facebook/opt-30b --gpu-memory 8GB --ram 32GB\n"
         "headroom estimate microsoft/phi-2 --batch 4 --context 2048 --explain\n"
         "headroom estimate llama3-8b --machine rtx-4090 --runtime vllm --lora-rank 16 "
         "--lora-adapters 4\n"
         "headroom estimate llama3-70b --machine '4x a100-sxm-80gb' --runtime vllm --speculate "
         "draft:llama-3.2-1b:5@0.7\n"
         "headroom estimate Qwen3.5-27B --machine rtx-5090 --runtime llama.cpp --precision q4_K_M "
         "--speculate mtp:3\n"
         "headroom estimate llama2-7b --task training --zero 2 --dp 8 --checkpointing full\n"
         "headroom estimate llama3-8b --task training --qlora --machine rtx-4090\n"
         "headroom estimate llama3-70b --task training --runtime megatron --tp 8 --pp 4 "
         "--grad-accum 16\n"
         "headroom estimate llama3-8b --task training --runtime megatron --precision mxfp8 --dp 8 "
         "--machine '8x b200'",
     .columns =
         "text: the model's shape, every assumption, the verdict, each device, the times\n"
         "training: every term on the fullest card, the time of the peak, what fits, changes "
         "that\n      would fit (one, or two together), the step time and its parts; json has them "
         "as\n"
         "      *_bytes, peak_at, fits, largest_batch, longest_sequence, changes, step_s (_low_s,\n"
         "      _high_s), step_parts_s, step_breakdown (by part, as --explain), tokens_s, mfu, "
         "bound,\n"
         "      days (--token-budget)\n"
         "--explain: first token and output token by kind of layer and device: bytes, FLOPs,\n     "
         " hardware rates, time and bound; then by operation,\n      with hidden (overlapped) "
         "work. For a training step: forward, backward, recomputation, collectives, bubbles and "
         "optimizer; every\n      term with its formula and source\n"
         "json: model, machine, assumptions, verdict, sure, devices, terms (name, bytes or\n"
         "      seconds, low, high, formula, numbers, source), intervals (for memory and times: "
         "low\n"
         "      and high as factors, measurements, measured or unmeasured), speed (as --explain "
         "shows: "
         "*_bytes,\n      flops, *_s, bound, by part; spans: amount, unit, rate_s, seconds, "
         "hidden_s, "
         "formula,\n      source, by operation), result (as a sweep stores it), serving\n"
         "      (continuous batching in its steady state: ttft_s, tpot_s, total_s, p50, p95,\n"
         "      requests_s, output_tokens_s, _gpu, _user, each with _low and _high; null where the "
         "engine has none)\n"
         "csv, md: the columns of `result`, one row",
     .exit_codes =
         "0 done: it fits somewhere, with offload if necessary\n1 failed: a file or a config "
         "that cannot be read; a\n   training step of which weights and states alone are known, so "
         "not whether it fits\n2 usage: an option or a name that is not understood\n"
         "3 no: it does not fit, or cannot run there"},
    run_estimate};

}  // namespace headroom::sweep
