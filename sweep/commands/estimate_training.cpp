// headroom estimate --task training: memory of one step on the fullest card.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "hardware/quantity_text.hpp"
#include "model/answer/explain.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/outcome.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/advice_words.hpp"
#include "sweep/screen/sources_text.hpp"
#include "sweep/training/answer.hpp"
#include "sweep/training/floor.hpp"
#include "sweep/training/row.hpp"
#include "sweep/training/screen.hpp"
#include "sweep/training/step_output.hpp"

namespace headroom::sweep {
namespace {

using model::TrainingEstimate;

std::string step_verdict(const GivenTraining& given, const TrainingAnswer& answer) {
  const Machine& machine = *given.machine;
  const model::Estimate& o = *answer.outcome;
  if (machine.devices.empty()) return "does not fit: the machine has no card";
  const Bytes card = model::smallest_card(machine);
  if (o.reason == model::Reason::gpu_memory)
    return fmt::format("does not fit: {} short on the fullest card of {}", to_text(o.short_bytes),
                       to_text(card));
  if (o.reason == model::Reason::ram)
    return fmt::format("does not fit: the host needs {} and has {}", to_text(o.cpu_bytes),
                       to_text(machine.host.ram));
  if (o.reason == model::Reason::disk)
    return fmt::format("does not fit: the disk needs {} and has {}", to_text(o.disk_bytes),
                       to_text(machine.host.disk));
  return fmt::format("{}: {} of {} left on the fullest card",
                     is_tight(given, answer.memory.peak_high) ? "tight" : "fits",
                     to_text(card - answer.memory.peak), to_text(card));
}

std::string advice_text(const TrainingAdvice& advice) {
  std::string text = fmt::format("Fits      batch {} at most, or sequences of {}\n", advice.batch,
                                 counted(advice.sequence, "token"));
  if (advice.changes.empty()) return text;
  if (advice.replicas > 0)
    text += fmt::format("          with --dp {} --zero 3, on a machine with as many cards\n",
                        advice.replicas);
  std::vector<std::vector<std::string>> rows;
  for (const model::Change& c : advice.changes)
    rows.push_back({change_flags(c), to_text(c.peak), to_text(c.saved), change_percent(c.time),
                    c.fits ? "fits" : "", change_effect(c)});
  return text + '\n' +
         aligned({"change", "peak", "saves", "time a token", "", ""},
                 {false, true, true, true, false, false}, rows);
}

std::string memory_evidence(const model::TrainingRuntime& runtime) {
  const model::Constant& spread = runtime.spread;
  return spread.measurements == 0
             ? std::string("unmeasured")
             : fmt::format("from {}, {}", counted(spread.measurements, "measured run"),
                           spread.source);
}

std::vector<FigureSource> sources_of(const GivenTraining& given, const TrainingAnswer& answer) {
  std::vector<FigureSource> all{{"shape of " + given.model->name, given.model->source}};
  for (auto& each : sweep::sources_of(answer.terms)) all.push_back(std::move(each));
  all.push_back({"interval of the peak", memory_evidence(*given.scenario.runtime)});
  return all;
}

std::string step_line(const model::TrainingScenario& s) {
  const model::Parallelism& p = s.parallel;
  std::string text = fmt::format("Step      {} x {} a pass, {} a step; {}, {}", s.batch,
                                 counted(s.sequence, "token"), counted(s.accumulated, "pass"),
                                 s.runtime->name, s.optimizer->name());
  text += fmt::format("\nCards     {}", p.cards());
  if (p.cards() > 1)
    text +=
        fmt::format(": dp {} x tp {} x pp {} x cp {}", p.replicas, p.tensor, p.stages, p.context);
  if (p.experts > 1) text += fmt::format(", experts over {}", p.experts);
  if (p.chunks > 1) text += fmt::format(", {} chunks of layers on each stage", p.chunks);
  return text + fmt::format(", ZeRO {}\n", s.zero);
}

std::string amount(const model::Term& term) {
  std::string text = to_text(Bytes(static_cast<Size>(term.expected)));
  if (term.low != term.high)
    text += fmt::format(" ({} to {})", to_text(Bytes(static_cast<Size>(term.low))),
                        to_text(Bytes(static_cast<Size>(term.high))));
  return text;
}

std::string text_of(const GivenTraining& given, const TrainingAnswer& answer, bool with_terms) {
  const TrainingEstimate& e = answer.memory;
  const model::Model& m = *given.model;
  const model::TrainingScenario& s = given.scenario;
  std::string text = fmt::format("Model     {} ({}), {} parameters, {} trained\n", m.name,
                                 m.architecture, grouped(m.profile.parameters), grouped(e.trained));
  text += step_line(s);
  if (given.machine) text += fmt::format("Machine   {}\n", given.machine->name);
  for (const auto& line : assumptions_of(given)) text += "Assumes   " + line + '\n';
  for (const auto& line : warnings_of(given)) text += "Warning   " + line + '\n';
  if (given.machine) text += fmt::format("\nVerdict   {}\n", step_verdict(given, answer));
  std::vector<std::vector<std::string>> rows;
  for (const auto& term : answer.terms)
    if (term.expected > 0)
      rows.push_back({term.name, to_text(Bytes(static_cast<Size>(term.expected)))});
  rows.push_back({"peak", to_text(e.peak)});
  text += '\n' + aligned({"memory of the fullest card", "expected"}, {false, true}, rows);
  text += fmt::format(
      "\nThe peak is at {}: allocated {} at the end of forward, {} at the start of backward,\n"
      "{} in its widest layer, {} in the optimizer's step. Terms peak at different times, so they "
      "do not add up.\nPeak {} to {} ({}): allocated {}, reserved {}.\n",
      name_of(e.moment), to_text(e.at_forward_end), to_text(e.at_backward_start),
      to_text(e.in_backward), to_text(e.at_step), to_text(e.peak_low), to_text(e.peak_high),
      memory_evidence(*s.runtime), to_text(e.allocated), to_text(e.reserved));
  text += step_time_text(given, answer, with_terms);
  if (given.machine && !given.machine->devices.empty())
    text += '\n' + advice_text(advice_of(given, e));
  if (e.host > Bytes(0)) text += fmt::format("In host memory: {} a card.\n", to_text(e.host));
  if (e.disk > Bytes(0)) text += fmt::format("On disk: {} a card.\n", to_text(e.disk));
  if (!given.probe.empty()) text += "To measure it on a GPU: " + given.probe + '\n';
  if (!with_terms) return text;
  text += '\n';
  for (const auto& term : answer.terms)
    text += fmt::format(
        "{}: {}\n    = {}\n{}    source: {}\n", term.name, amount(term), term.formula,
        term.numbers.empty() ? "" : fmt::format("    with {}\n", term.numbers), term.source);
  return text;
}

/// Exit code 1 where it is not known whether the step fits: a script must not take it for a yes.
int show_floor(const Options& options, const GivenTraining& given, const TrainingFloorAnswer& floor,
               Format format) {
  for (const std::string_view flag : {"explain", "details", "sources"})
    if (options.given(flag))
      throw UsageError(fmt::format("--{} has no effect where activations are not known: {}", flag,
                                   floor.undescribed));
  if (format == Format::csv || format == Format::markdown)
    throw UsageError(
        fmt::format("the row of a step has its peak, which is not known: {}; "
                    "--format json and text show what is",
                    floor.undescribed));
  if (format == Format::text)
    emit(options, floor_screen(given, floor));
  else if (format == Format::json)
    emit(options, pretty(object_of(given, floor)));
  else
    emit(options, boost::json::serialize(object_of(given, floor)) + '\n');
  return floor.exceeds_machine ? answer_is_no : failed;
}

int show_answer(const Options& options, const GivenTraining& given, const TrainingAnswer& answer,
                Format format) {
  const bool with_terms = options.given("explain");
  if (options.given("sources"))
    emit(options, sources_text(sources_of(given, answer)));
  else if (format == Format::text && !with_terms && !options.given("details"))
    emit(options, training_screen(given, answer));
  else if (format == Format::text)
    emit(options, text_of(given, answer, with_terms));
  else if (format == Format::json)
    emit(options, pretty(object_of(given, answer)));
  else if (format == Format::jsonl)
    emit(options, boost::json::serialize(object_of(given, answer)) + '\n');
  else
    emit(options, formatted(training_row(given, answer), format));
  return given.machine && !fits(*answer.outcome) ? answer_is_no : done;
}

}  // namespace

int estimate_training(const Options& options) {
  const Format format = format_of(options);
  refuse_details_outside_text(options, format);
  if (options.given("explain") && format != Format::text)
    throw UsageError("--explain has no effect here: json has the terms always");
  refuse_sources(options, format);
  const GivenTraining given = training_of(options);
  if (given.scenario.document > 0 && (!given.machine || given.machine->devices.empty()))
    throw UsageError("--packing changes only times: no effect without cards (--machine)");
  if (given.token_budget > 0 && (!given.machine || given.machine->devices.empty()))
    throw UsageError("--token-budget has no effect without cards (--machine)");
  try {
    return show_answer(options, given, answer_of(given), format);
  } catch (const UndescribedStep& undescribed) {
    return show_floor(options, given, floor_of(given, undescribed), format);
  }
}

}  // namespace headroom::sweep
