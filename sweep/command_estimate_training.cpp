// headroom estimate --task training: memory of one step on one card.
#include <fmt/format.h>

#include "hardware/quantity_text.hpp"
#include "sweep/command.hpp"
#include "sweep/output.hpp"
#include "sweep/training_options.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using model::TrainingEstimate;

std::string peak_name(const TrainingEstimate& e) {
  return e.peak_at_step ? "the optimizer's step" : "backward";
}

/// Why the peak is not to be relied on.
std::vector<std::string> warnings_of(const TrainingEstimate& e) {
  std::vector<std::string> all{
      "no measured training run stands behind the peak yet: weights, gradients, states and "
      "adapters "
      "are counted exactly, buffers and overheads are unmeasured, and there is no interval"};
  if (!e.exact_layers)
    all.emplace_back("some layers are of a kind whose activations are not described: too low");
  return all;
}

std::string text_of(const GivenTraining& given, const TrainingEstimate& e, bool with_terms) {
  const model::Model& m = *given.model;
  std::string text = fmt::format("Model     {} ({}), {} parameters, {} trained\n", m.name,
                                 m.architecture, grouped(m.profile.parameters), grouped(e.trained));
  text +=
      fmt::format("Step      {} x {} tokens a card, {} replicas, ZeRO {}\n", given.scenario.batch,
                  given.scenario.sequence, given.scenario.replicas, given.scenario.zero);
  for (const auto& line : given.assumed) text += "Assumes   " + line + '\n';
  for (const auto& line : warnings_of(e)) text += "Warning   " + line + '\n';
  std::vector<std::vector<std::string>> rows;
  for (const auto& term : e.terms)
    if (term.expected > 0)
      rows.push_back({term.name, to_text(Bytes(static_cast<Size>(term.expected)))});
  rows.push_back({"peak", to_text(e.peak)});
  text += '\n' + aligned({"memory of one card", "expected"}, {false, true}, rows);
  text += fmt::format("\nThe peak is in {}: {} when backward is widest, {} during the step.\n",
                      peak_name(e), to_text(e.at_backward), to_text(e.at_step));
  if (e.host > Bytes(0)) text += fmt::format("In host memory: {} a card.\n", to_text(e.host));
  if (!with_terms) return text;
  text += '\n';
  for (const auto& term : e.terms)
    text += fmt::format("{}: {}\n    = {}\n{}    source: {}\n", term.name,
                        to_text(Bytes(static_cast<Size>(term.expected))), term.formula,
                        term.numbers.empty() ? "" : fmt::format("    with {}\n", term.numbers),
                        term.source);
  return text;
}

json::object object_of(const GivenTraining& given, const TrainingEstimate& e) {
  const auto bytes = [](Bytes b) { return b.count(); };
  json::object all{{"model", given.model->name},
                   {"architecture", given.model->architecture},
                   {"task", "training"},
                   {"recipe", given.scenario.recipe->name},
                   {"optimizer", given.scenario.optimizer->name()},
                   {"parameters", given.model->profile.parameters},
                   {"trained_parameters", e.trained},
                   {"weights_bytes", bytes(e.weights)},
                   {"master_weights_bytes", bytes(e.master)},
                   {"gradients_bytes", bytes(e.gradients)},
                   {"optimizer_bytes", bytes(e.states)},
                   {"activations_bytes", bytes(e.activations)},
                   {"recomputed_bytes", bytes(e.recomputed)},
                   {"loss_bytes", bytes(e.loss)},
                   {"gathered_bytes", bytes(e.gathered)},
                   {"step_bytes", bytes(e.step)},
                   {"context_bytes", bytes(e.context)},
                   {"fragmentation_bytes", bytes(e.fragmentation)},
                   {"peak_bytes", bytes(e.peak)},
                   {"peak_at", e.peak_at_step ? "step" : "backward"},
                   {"host_bytes", bytes(e.host)},
                   {"layers_described", e.exact_layers}};
  all["assumptions"] = json::array();
  for (const auto& line : given.assumed) all["assumptions"].as_array().emplace_back(line);
  all["warnings"] = json::array();
  for (const auto& line : warnings_of(e)) all["warnings"].as_array().emplace_back(line);
  all["terms"] = json::array();
  for (const auto& term : e.terms)
    all["terms"].as_array().push_back(json::object{{"name", term.name},
                                                   {"bytes", static_cast<Size>(term.expected)},
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
  const TrainingEstimate e = model::evaluate_training(given.scenario);
  if (format == Format::text)
    emit(options, text_of(given, e, with_terms));
  else if (format == Format::json)
    emit(options, pretty(object_of(given, e)));
  else if (format == Format::jsonl)
    emit(options, json::serialize(object_of(given, e)) + '\n');
  else
    throw UsageError("--task training answers in text, json or jsonl in this version");
  return done;
}

}  // namespace headroom::sweep
