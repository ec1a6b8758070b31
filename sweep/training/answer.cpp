#include "sweep/training/answer.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "model/answer/training_terms.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/outcome.hpp"
#include "model/train/shape.hpp"
#include "sweep/screen/advice_words.hpp"
#include "sweep/training/step_output.hpp"
#include "sweep/ways.hpp"

namespace headroom::sweep {

namespace json = boost::json;
using model::TrainingEstimate;

namespace {

/// `reason` with the flags of the divisions that it names.
std::string with_flags(std::string reason) {
  constexpr std::pair<std::string_view, std::string_view> flags[] = {
      {"tensor parallel", "--tp"},
      {"pipeline stages", "--pp"},
      {"virtual stages", "--virtual-stages"},
      {"expert parallel", "--ep"},
      {"context parallel", "--cp"},
      {"ZeRO stage", "--zero"},
      {"sequences", "--seq"},
      {"the constant activation_factor=17", "--set activation_factor=17"},
      {"states on the host", "--offload-optimizer"},
      {"weights on the host", "--offload-params"},
      {"accumulated passes", "--grad-accum"}};
  for (const auto& [words, flag] : flags)
    if (const auto at = reason.find(words); at != std::string::npos)
      reason.insert(at + words.size(), fmt::format(" ({})", flag));
  return reason;
}

}  // namespace

TrainingAnswer answer_of(const GivenTraining& given) try {
  const model::TrainingScenario& s = given.scenario;
  model::TrainingEvaluator evaluate;
  TrainingAnswer answer{.memory = evaluate(s), .outcome = {}, .time = {}, .parts = {}, .terms = {}};
  answer.terms = model::training_terms(s, answer.memory);
  if (!given.machine) return answer;
  answer.outcome = model::outcome_of(s, answer.memory, *given.machine);
  if (given.machine->devices.empty()) return answer;
  const auto pace = model::training_pace(s.runtime->paced_as(), given.machine->devices.front());
  answer.time = model::time_of_step(s, evaluate.shape(), answer.memory, *given.machine, pace);
  answer.parts = model::step_parts(s, *given.machine, answer.time->timeline);
  if (answer.outcome->verdict < model::Verdict::does_not_fit)
    model::put_time(*answer.outcome, *answer.time);
  return answer;
} catch (const model::ImpossibleStep& impossible) {
  const std::string reason = with_flags(impossible.what());
  if (impossible.reason == model::Reason::layers_not_described) throw UndescribedStep(reason);
  throw UsageError(reason);
} catch (const std::invalid_argument& impossible) {
  throw UsageError(with_flags(impossible.what()));
}

bool has_room(const Device& device, Bytes memory, Bytes peak_high) {
  return peak_high + spare_memory(device) <= memory;
}

namespace {

bool step_has_room(const GivenTraining& given, Bytes peak_high) {
  return has_room(given.machine->devices.front(), model::smallest_card(*given.machine), peak_high);
}

}  // namespace

bool is_tight(const GivenTraining& given, Bytes peak_high) {
  return !step_has_room(given, peak_high);
}

TrainingAdvice advice_of(const GivenTraining& given, const TrainingEstimate& e) {
  const Bytes card = model::smallest_card(*given.machine);
  const model::TrainingScenario& s = given.scenario;
  TrainingAdvice advice{.batch = model::largest_batch(s, card),
                        .sequence = model::longest_sequence(s, card),
                        .replicas = 0,
                        .changes = {}};
  if (step_has_room(given, e.peak_high)) return advice;
  advice.changes = model::changes_that_save(s, *given.machine);
  if (e.peak > card)
    advice.replicas = model::fewest_replicas(s, card);
  else
    std::erase_if(advice.changes,
                  [&](const auto& each) { return !step_has_room(given, each.peak_high); });
  return advice;
}

std::vector<std::string> warnings_of(const GivenTraining& given) {
  std::vector<std::string> all = model::doubts(*given.model);
  const model::TrainingScenario& s = given.scenario;
  if (const Size positions = given.model->shape.positions; positions > 0 && s.sequence > positions)
    all.push_back(
        fmt::format("sequences of {} tokens exceed the model's {} positions: outputs beyond them "
                    "are not reliable",
                    s.sequence, positions));
  const model::Scheme& held = model::scheme(given.model->checkpoint_scheme);
  if (held.family != model::SchemeFamily::plain)
    all.push_back(
        fmt::format("the checkpoint is in {}: training needs one in 16 bit, which is counted here, "
                    "and launch writes no file for it",
                    held.name));
  if (s.bf16)
    all.push_back(
        "the cards have no units for bf16, which runs at the rate of fp32: --precision fp16");
  const model::TrainingRuntime& runtime = *s.runtime;
  if (runtime.spread.measurements == 0)
    all.push_back(
        fmt::format("the peak of {} is an estimate without measurements: weights, gradients, "
                    "states and adapters are counted, overheads are unmeasured",
                    runtime.name));
  const Size cards = given.scenario.parallel.cards();
  if (given.machine && std::ssize(given.machine->devices) > cards)
    all.push_back(fmt::format(
        "{} of the machine's {} cards work{}: --dp, --tp, --pp and --cp use more of them", cards,
        given.machine->devices.size(), cards == 1 ? "s" : ""));
  if (given.scenario.matrices != nullptr && runtime.matrices != model::MatrixPackage::torchao)
    all.push_back(
        fmt::format("the memory that {} keeps quantised in {} is an estimate without measurements",
                    runtime.name, given.scenario.matrices->name));
  if (given.scenario.optimizer->paged)
    all.push_back(
        "paged states count on the card; they may move to host memory when it is full, which is "
        "slower");
  for (const auto& [key, value] : given.scenario.factors)
    all.push_back(fmt::format("a rule of thumb replaces the counted value: {} = {}", key, value));
  return all;
}

std::vector<std::string> assumptions_of(const GivenTraining& given) {
  std::vector<std::string> all;
  for (const auto& line : given.from_file) all.push_back("from the file: " + line);
  all.insert(all.end(), given.assumed.begin(), given.assumed.end());
  if (!given.ignored.empty()) all.push_back(given.ignored);
  return all;
}

double days_of(const GivenTraining& given, const model::StepTime& time) {
  constexpr double seconds_a_day = 86400;
  return static_cast<double>(given.token_budget) / time.tokens_s / seconds_a_day;
}

namespace {

/// The kind of step, and its bytes on the fullest card.
json::object memory_object(const GivenTraining& given, const TrainingAnswer& answer) {
  const TrainingEstimate& e = answer.memory;
  const auto bytes = [](Bytes b) { return b.count(); };
  const model::TrainingScenario& s = given.scenario;
  return {{"model", given.model->name},
          {"architecture", given.model->architecture},
          {"task", "training"},
          {"runtime", s.runtime->name},
          {"recipe", s.recipe->name},
          {"matrices", s.matrices != nullptr ? s.matrices->name : "usual"},
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
          {"disk_bytes", bytes(e.disk)}};
}

void add_times(const GivenTraining& given, const TrainingAnswer& answer, json::object& all) {
  if (!answer.time) return;
  const model::StepTime& time = *answer.time;
  const model::Constant spread =
      model::training_pace(given.scenario.runtime->paced_as(), given.machine->devices.front())
          .interval;
  const double total = time.total().value();
  all["step_s"] = total;
  all["step_low_s"] = total * spread.low;
  all["step_high_s"] = total * spread.high;
  all["step_measurements"] = spread.measurements;
  all["tokens_s"] = time.tokens_s;
  all["mfu"] = time.utilization;
  all["bound"] = name_of(time.bound);
  json::object parts;
  const model::StepTimeline::Groups& groups = time.timeline.groups;
  for (std::size_t i = 0; i < groups.size(); ++i)
    parts[name_of(static_cast<model::StepGroup>(i))] = groups[i].value();
  all["step_parts_s"] = parts;
  all["step_breakdown"] = array_of(answer.parts);
  if (given.token_budget > 0) {
    all["token_budget"] = given.token_budget;
    all["days"] = days_of(given, time);
  }
}

void add_advice(const GivenTraining& given, const TrainingEstimate& memory, json::object& all) {
  if (!given.machine || given.machine->devices.empty()) return;
  const TrainingAdvice advice = advice_of(given, memory);
  all["largest_batch"] = advice.batch;
  all["longest_sequence"] = advice.sequence;
  all["fewest_replicas"] = advice.replicas;
  all["changes"] = json::array();
  for (const model::Change& c : advice.changes)
    all["changes"].as_array().push_back(json::object{{"flags", change_flags(c)},
                                                     {"peak_bytes", c.peak.count()},
                                                     {"saved_bytes", c.saved.count()},
                                                     {"host_bytes", c.host.count()},
                                                     {"time", c.time},
                                                     {"fits", c.fits},
                                                     {"cost", change_effect(c)}});
}

void add_explanations(const GivenTraining& given, const TrainingAnswer& answer, json::object& all) {
  all["assumptions"] = json::array();
  for (const auto& line : assumptions_of(given)) all["assumptions"].as_array().emplace_back(line);
  all["warnings"] = json::array();
  for (const auto& line : warnings_of(given)) all["warnings"].as_array().emplace_back(line);
  all["terms"] = json::array();
  for (const auto& term : answer.terms)
    all["terms"].as_array().push_back(json::object{{"name", term.name},
                                                   {"bytes", static_cast<Size>(term.expected)},
                                                   {"low", static_cast<Size>(term.low)},
                                                   {"high", static_cast<Size>(term.high)},
                                                   {"formula", term.formula},
                                                   {"numbers", term.numbers},
                                                   {"source", term.source}});
}

}  // namespace

json::object object_of(const GivenTraining& given, const TrainingAnswer& answer) {
  json::object all = memory_object(given, answer);
  if (!given.probe.empty()) all["probe"] = given.probe;
  all["machine"] = given.machine ? json::value(given.machine->name) : json::value(nullptr);
  all["fits"] = given.machine ? json::value(fits(*answer.outcome)) : json::value(nullptr);
  add_times(given, answer, all);
  add_advice(given, answer.memory, all);
  add_explanations(given, answer, all);
  return all;
}

}  // namespace headroom::sweep
