// headroom estimate --task training: memory of one step on the fullest card.
#include <fmt/format.h>

#include <algorithm>

#include "hardware/quantity_text.hpp"
#include "model/training_advice.hpp"
#include "sweep/command.hpp"
#include "sweep/output.hpp"
#include "sweep/training_options.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using model::TrainingEstimate;

Bytes smallest_card(const Machine& machine) {
  Bytes card = machine.devices.front().memory;
  for (const Device& each : machine.devices) card = std::min(card, each.memory);
  return card;
}

/// Whether it fits on the machine, and whether both ends of the interval say so.
struct Fit {
  bool fits = true, sure = true;
  std::string words;
};

Fit fit_of(const GivenTraining& given, const TrainingEstimate& e) {
  const Machine& machine = *given.machine;
  if (machine.devices.empty()) return {false, true, "does not fit: the machine has no card"};
  const Bytes card = smallest_card(machine);
  const Size cards = given.scenario.parallel.cards();
  const Bytes host = cards * e.host, disk = cards * e.disk;
  Fit fit{
      .fits = e.peak <= card, .sure = (e.peak_low <= card) == (e.peak_high <= card), .words = {}};
  if (!fit.fits)
    fit.words = fmt::format("does not fit: {} short on the fullest card of {}",
                            to_text(e.peak - card), to_text(card));
  else
    fit.words = fmt::format("fits: {} of {} left on the fullest card", to_text(card - e.peak),
                            to_text(card));
  if (host > machine.host.ram)
    fit = {false, true,
           fmt::format("does not fit: the host needs {} and has {}", to_text(host),
                       to_text(machine.host.ram))};
  else if (disk > machine.host.disk)
    fit = {false, true,
           fmt::format("does not fit: the disk needs {} and has {}", to_text(disk),
                       to_text(machine.host.disk))};
  return fit;
}

/// What fits on the machine's cards, or what would have to change.
struct Advice {
  Size batch = 0, sequence = 0, replicas = 0;
  std::vector<model::Change> changes;
};
Advice advice_of(const GivenTraining& given, const TrainingEstimate& e) {
  const Bytes card = smallest_card(*given.machine);
  const model::TrainingScenario& s = given.scenario;
  Advice advice{.batch = model::largest_batch(s, card),
                .sequence = model::longest_sequence(s, card),
                .replicas = 0,
                .changes = {}};
  if (e.peak <= card) return advice;
  advice.replicas = model::fewest_replicas(s, card);
  advice.changes = model::changes_that_save(s, card);
  return advice;
}

std::string advice_text(const Advice& advice) {
  std::string text = fmt::format("Fits      batch {} at most, or sequences of {} tokens\n",
                                 advice.batch, advice.sequence);
  if (advice.changes.empty()) return text;
  if (advice.replicas > 0)
    text += fmt::format("          with --dp {} --zero 3 as it is\n", advice.replicas);
  std::vector<std::vector<std::string>> rows;
  for (const model::Change& c : advice.changes)
    rows.push_back({c.flags, to_text(c.peak), to_text(c.saved), c.fits ? "fits" : "", c.effect});
  return text + '\n' +
         aligned({"change", "peak", "saves", "", "cost"}, {false, true, true, false, false}, rows);
}

/// Why the peak is not to be relied on.
std::vector<std::string> warnings_of(const GivenTraining& given, const TrainingEstimate& e) {
  std::vector<std::string> all;
  const model::TrainingRuntime& runtime = *given.scenario.runtime;
  if (runtime.spread.measurements == 0)
    all.push_back(fmt::format(
        "no measured training run of {} stands behind the peak: weights, gradients, states and "
        "adapters are counted, overheads are unmeasured",
        runtime.name));
  if (!e.exact_layers)
    all.emplace_back("some layers are of a kind whose activations are not described: too low");
  for (const auto& [key, value] : given.scenario.factors)
    all.push_back(
        fmt::format("a rule of thumb replaces what would be counted: {} = {}", key, value));
  return all;
}

std::string measured_words(const model::TrainingRuntime& runtime) {
  const model::Constant& spread = runtime.spread;
  return spread.measurements == 0
             ? std::string("unmeasured")
             : fmt::format("from {} measured runs, {}", spread.measurements, spread.source);
}

std::string step_line(const model::TrainingScenario& s) {
  const model::Parallelism& p = s.parallel;
  std::string text = fmt::format("Step      {} x {} tokens a pass, {} pass{} a step; {}, {}",
                                 s.batch, s.sequence, s.accumulated, s.accumulated == 1 ? "" : "es",
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

std::string text_of(const GivenTraining& given, const TrainingEstimate& e, bool with_terms) {
  const model::Model& m = *given.model;
  const model::TrainingScenario& s = given.scenario;
  std::string text = fmt::format("Model     {} ({}), {} parameters, {} trained\n", m.name,
                                 m.architecture, grouped(m.profile.parameters), grouped(e.trained));
  text += step_line(s);
  if (given.machine) text += fmt::format("Machine   {}\n", given.machine->name);
  for (const auto& line : given.assumed) text += "Assumes   " + line + '\n';
  for (const auto& line : warnings_of(given, e)) text += "Warning   " + line + '\n';
  if (given.machine) {
    const Fit fit = fit_of(given, e);
    text += fmt::format("\nVerdict   {} (sure: {})\n", fit.words, fit.sure ? "yes" : "marginal");
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& term : e.terms)
    if (term.expected > 0)
      rows.push_back({term.name, to_text(Bytes(static_cast<Size>(term.expected)))});
  rows.push_back({"peak", to_text(e.peak)});
  text += '\n' + aligned({"memory of the fullest card", "expected"}, {false, true}, rows);
  text += fmt::format(
      "\nThe peak is at {}: allocated {} at the end of forward, {} at the start of backward,\n"
      "{} in its widest layer, {} in the optimizer's step; terms that are not alive together do "
      "not add up.\nPeak {} to {} ({}): allocated {}, reserved {}.\n",
      name_of(e.moment), to_text(e.at_forward_end), to_text(e.at_backward_start),
      to_text(e.in_backward), to_text(e.at_step), to_text(e.peak_low), to_text(e.peak_high),
      measured_words(*s.runtime), to_text(e.allocated), to_text(e.reserved));
  if (given.machine && !given.machine->devices.empty())
    text += '\n' + advice_text(advice_of(given, e));
  if (e.host > Bytes(0)) text += fmt::format("In host memory: {} a card.\n", to_text(e.host));
  if (e.disk > Bytes(0)) text += fmt::format("On disk: {} a card.\n", to_text(e.disk));
  if (!given.probe.empty()) text += "To measure it on a GPU: " + given.probe + '\n';
  if (!with_terms) return text;
  text += '\n';
  for (const auto& term : e.terms)
    text += fmt::format(
        "{}: {}\n    = {}\n{}    source: {}\n", term.name, amount(term), term.formula,
        term.numbers.empty() ? "" : fmt::format("    with {}\n", term.numbers), term.source);
  return text;
}

json::object object_of(const GivenTraining& given, const TrainingEstimate& e) {
  const auto bytes = [](Bytes b) { return b.count(); };
  const model::TrainingScenario& s = given.scenario;
  json::object all{{"model", given.model->name},
                   {"architecture", given.model->architecture},
                   {"task", "training"},
                   {"runtime", s.runtime->name},
                   {"recipe", s.recipe->name},
                   {"optimizer", s.optimizer->name()},
                   {"cards", s.parallel.cards()},
                   {"stage", e.stage},
                   {"passes_in_flight", e.in_flight},
                   {"parameters", given.model->profile.parameters},
                   {"trained_parameters", e.trained},
                   {"weights_bytes", bytes(e.weights)},
                   {"master_weights_bytes", bytes(e.master)},
                   {"gradients_bytes", bytes(e.gradients)},
                   {"optimizer_bytes", bytes(e.states)},
                   {"activations_bytes", bytes(e.activations)},
                   {"attention_activations_bytes", bytes(e.attention)},
                   {"feed_forward_activations_bytes", bytes(e.feed_forward)},
                   {"other_activations_bytes", bytes(e.other)},
                   {"recomputed_bytes", bytes(e.recomputed)},
                   {"activation_gradients_bytes", bytes(e.transient)},
                   {"loss_bytes", bytes(e.loss)},
                   {"gathered_bytes", bytes(e.gathered)},
                   {"scratch_bytes", bytes(e.scratch)},
                   {"step_bytes", bytes(e.step)},
                   {"context_bytes", bytes(e.context)},
                   {"fragmentation_bytes", bytes(e.fragmentation)},
                   {"allocated_bytes", bytes(e.allocated)},
                   {"reserved_bytes", bytes(e.reserved)},
                   {"peak_bytes", bytes(e.peak)},
                   {"peak_low_bytes", bytes(e.peak_low)},
                   {"peak_high_bytes", bytes(e.peak_high)},
                   {"peak_at", name_of(e.moment)},
                   {"host_bytes", bytes(e.host)},
                   {"disk_bytes", bytes(e.disk)},
                   {"layers_described", e.exact_layers}};
  if (!given.probe.empty()) all["probe"] = given.probe;
  all["machine"] = given.machine ? json::value(given.machine->name) : json::value(nullptr);
  all["fits"] = given.machine ? json::value(fit_of(given, e).fits) : json::value(nullptr);
  if (given.machine && !given.machine->devices.empty()) {
    const Advice advice = advice_of(given, e);
    all["largest_batch"] = advice.batch;
    all["longest_sequence"] = advice.sequence;
    all["fewest_replicas"] = advice.replicas;
    all["changes"] = json::array();
    for (const model::Change& c : advice.changes)
      all["changes"].as_array().push_back(json::object{{"flags", c.flags},
                                                       {"peak_bytes", bytes(c.peak)},
                                                       {"saved_bytes", bytes(c.saved)},
                                                       {"host_bytes", bytes(c.host)},
                                                       {"fits", c.fits},
                                                       {"cost", c.effect}});
  }
  all["assumptions"] = json::array();
  for (const auto& line : given.assumed) all["assumptions"].as_array().emplace_back(line);
  all["warnings"] = json::array();
  for (const auto& line : warnings_of(given, e)) all["warnings"].as_array().emplace_back(line);
  all["terms"] = json::array();
  for (const auto& term : e.terms)
    all["terms"].as_array().push_back(json::object{{"name", term.name},
                                                   {"bytes", static_cast<Size>(term.expected)},
                                                   {"low", static_cast<Size>(term.low)},
                                                   {"high", static_cast<Size>(term.high)},
                                                   {"formula", term.formula},
                                                   {"numbers", term.numbers},
                                                   {"source", term.source}});
  return all;
}

}  // namespace

int estimate_training(const Options& options) {
  const Format format = format_of(options);
  const bool with_terms = options.given("explain");
  if (with_terms && format != Format::text)
    throw UsageError("--explain has no effect here: json has the terms always");
  const GivenTraining given = training_of(options);
  TrainingEstimate e;
  try {
    e = model::evaluate_training(given.scenario);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  if (format == Format::text)
    emit(options, text_of(given, e, with_terms));
  else if (format == Format::json)
    emit(options, pretty(object_of(given, e)));
  else if (format == Format::jsonl)
    emit(options, json::serialize(object_of(given, e)) + '\n');
  else
    throw UsageError("--task training answers in text, json or jsonl in this version");
  return given.machine && !fit_of(given, e).fits ? answer_is_no : done;
}

}  // namespace headroom::sweep
