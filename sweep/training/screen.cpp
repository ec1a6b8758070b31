#include "sweep/training/screen.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "hardware/quantity_text.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/outcome.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/advice_words.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/screen/interval_words.hpp"
#include "sweep/screen/screen_table.hpp"
#include "sweep/training/step_output.hpp"

namespace headroom::sweep {
namespace {

constexpr double shown_from = 0.05 * GiB;  // 0.1 GiB as shown
constexpr std::size_t most_terms = 8, fewest_terms = 4, most_changes = 5;

/// "786 ms (617 ms–1.08 s) a step, 2,600 tokens/s".
std::string speed_words(const GivenTraining& given, const TrainingAnswer& answer) {
  if (!answer.time) return {};
  const model::Interval spread(
      model::training_pace(given.scenario.runtime->paced_as(), given.machine->devices.front())
          .interval);
  return fmt::format("{} a step, {}{} tokens/s", time_with_interval(answer.time->total(), spread),
                     unmeasured_sign(spread), three_digits(answer.time->tokens_s));
}

std::string headline(const GivenTraining& given, const TrainingAnswer& answer) {
  const model::TrainingEstimate& e = answer.memory;
  const std::string interval = fmt::format("({}–{})", in_gib(e.peak_low), in_gib(e.peak_high));
  if (!given.machine)
    return fmt::format("Needs {} GiB on the fullest card {}", in_gib(e.peak), interval);
  if (given.machine->devices.empty()) return "Does not fit: the machine has no card";
  const Bytes card = model::smallest_card(*given.machine);
  const model::Estimate& o = *answer.outcome;
  const std::string of_card =
      fmt::format("{} of {} GiB on the fullest card {}", in_gib(e.peak), in_gib(card), interval);
  const std::string speed = speed_words(given, answer);
  if (fits(o))
    return (is_tight(given, e.peak_high) ? "Tight: " : "Fits: ") + of_card + ", " + speed;
  std::string text = "Does not fit: ";
  if (o.reason == model::Reason::ram)
    text += fmt::format(
        "the host needs {} of {} GiB{}", in_gib(o.cpu_bytes),
        in_gib(model::ram_beside(*given.machine, given.scenario.parallel.cards(), e.peak)),
        given.machine->has_unified_memory() ? " that cards leave of the shared memory" : "");
  else if (o.reason == model::Reason::disk)
    text += fmt::format("the disk needs {} of {} GiB", in_gib(o.disk_bytes),
                        in_gib(given.machine->host.disk));
  else
    text += of_card;
  return text + (speed.empty() ? "" : "; if it fitted, " + speed);
}

/// The `most` largest terms in GiB; the others together.
std::string memory_table(const TrainingAnswer& answer, std::size_t most) {
  std::vector<const model::Term*> terms;
  for (const model::Term& term : answer.terms)
    if (term.expected > 0) terms.push_back(&term);
  std::ranges::stable_sort(terms, std::greater{}, &model::Term::expected);
  std::vector<std::vector<std::string>> rows;
  double others = 0;
  const double peak = answer.memory.peak.real().value();
  for (const model::Term* term : terms) {
    if (rows.size() < most && term->expected > shown_from)
      rows.push_back({term->name, in_gib(Bytes(static_cast<Size>(term->expected))),
                      bar(term->expected, peak)});
    else
      others += term->expected;
  }
  if (others > 0) rows.push_back({"others", in_gib(Bytes(static_cast<Size>(others))), ""});
  rows.push_back({"peak, as terms peak at different times", in_gib(answer.memory.peak), ""});
  return aligned({"fullest card", "GiB", ""}, {false, true, false}, rows);
}

std::string advice_lines(const GivenTraining& given, const TrainingAnswer& answer) {
  const TrainingAdvice advice = advice_of(given, answer.memory);
  std::string text;
  if (advice.batch > 0)
    text = '\n' + paragraph(fmt::format("Room for a batch of {}, or sequences of {} tokens.",
                                        grouped(advice.batch), grouped(advice.sequence)));
  else if (advice.sequence > 0)
    text = '\n' + paragraph(fmt::format("Fits with sequences of at most {} tokens (--seq).",
                                        grouped(advice.sequence)));
  if (advice.changes.empty()) return text;
  std::vector<std::vector<std::string>> rows;
  for (const model::Change& c : advice.changes) {
    if (rows.size() == most_changes) break;
    rows.push_back({change_flags(c), in_gib(c.peak), change_percent(c.time), change_effect(c),
                    !c.fits                        ? ""
                    : is_tight(given, c.peak_high) ? "tight"
                                                   : "fits"});
  }
  if (advice.replicas > 0)
    text += paragraph(fmt::format("Fits with --dp {} --zero 3, on a machine with as many cards.",
                                  advice.replicas));
  return text + '\n' +
         screen_table({{"change", false, ScreenColumn::always, {}},
                       {"peak GiB", true, ScreenColumn::always, {}},
                       {"time a token", true, 2, {}},
                       {"", false, 1, {}},
                       {"", false, ScreenColumn::always, {}}},
                      rows);
}

}  // namespace

std::string assumptions_line(const GivenTraining& given) {
  const model::TrainingScenario& s = given.scenario;
  std::vector<std::string> all;
  if (!given.from_file.empty())
    all.push_back(fmt::format("from the file: {}", fmt::join(given.from_file, ", ")));
  all.insert(all.end(), given.assumed.begin(), given.assumed.end());
  if (!given.ignored.empty()) all.push_back(given.ignored_in_short);
  all.push_back(fmt::format("{} a pass, {} a step", counted(s.batch, "sequence"),
                            counted(s.accumulated, "pass")));
  return paragraph(fmt::format("Assumes {}.", fmt::join(all, "; ")));
}

std::string training_title(const GivenTraining& given, Size trained_parameters) {
  std::string trained;
  if (trained_parameters != given.model->profile.parameters)
    trained =
        fmt::format(", {} M trained", three_digits(static_cast<double>(trained_parameters) / 1e6));
  return paragraph(fmt::format("{} ({} parameters{}), training{}", given.model->name,
                               size_words(*given.model), trained,
                               given.machine ? " on " + given.machine->name : ""));
}

std::string off_card_lines(Bytes host, Bytes disk) {
  std::string text;
  if (host > Bytes(0)) text += fmt::format("In host memory: {} GiB a card.\n", in_gib(host));
  if (disk > Bytes(0)) text += fmt::format("On disk: {} GiB a card.\n", in_gib(disk));
  return text;
}

std::string training_screen(const GivenTraining& given, const TrainingAnswer& answer) {
  const model::TrainingScenario& s = given.scenario;
  const model::TrainingEstimate& e = answer.memory;
  const std::string head =
      training_title(given, e.trained) + paragraph(headline(given, answer)) + '\n';
  std::string text = off_card_lines(e.host, e.disk);
  text += budget_line(given, answer);
  if (given.machine && !given.machine->devices.empty()) text += advice_lines(given, answer);
  text += '\n';
  for (const auto& line : warnings_of(given)) text += paragraph("Warning: " + line + '.');
  if (!given.probe.empty()) text += paragraph("To measure it on a GPU: " + given.probe);
  text += assumptions_line(given);
  const bool measured =
      !answer.time || model::training_pace(s.runtime->paced_as(), given.machine->devices.front())
                              .interval.measurements > 0;
  if (!measured) text += std::string(unmeasured_footnote);
  text += "Next: --details has the time of the peak and every change, --explain each term.\n";
  for (std::size_t most = most_terms;; --most) {
    const std::string all = head + memory_table(answer, most) + text;
    if (std::ranges::count(all, '\n') <= screen_lines || most <= fewest_terms) return all;
  }
}

}  // namespace headroom::sweep
