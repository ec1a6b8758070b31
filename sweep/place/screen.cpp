// Placements as a person reads them first: what is recommended, and the other strategies.
#include <fmt/format.h>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/words.hpp"
#include "sweep/output.hpp"
#include "sweep/place/answer.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/screen/asked_note.hpp"
#include "sweep/screen/card_memory.hpp"
#include "sweep/screen/interval_words.hpp"
#include "sweep/screen/screen_table.hpp"
#include "sweep/screen/verdict_text.hpp"
#include "sweep/ways.hpp"

namespace headroom::sweep {
namespace {

using namespace model;

TimeIntervals intervals_of(const Strategy& s) {
  return interval_factors(s.scenario).times(s.explained.estimate);
}

/// Output tokens a second; of an encoder, the time of a prompt.
std::string speed_words(const Strategy& s, std::string_view unit) {
  const Estimate& e = s.explained.estimate;
  if (e.tokens_s > 0) return speed_of(e, intervals_of(s).tpot, unit);
  return duration(e.ttft.value()) + " a prompt";
}

std::string headline_of(const Answer& answer) {
  if (answer.chosen >= answer.strategies.size())
    return fmt::format("Nothing to recommend: {}", answer.reason);
  const Strategy& s = answer.strategies[answer.chosen];
  const Estimate& e = s.explained.estimate;
  std::string text = fmt::format("Recommended with {}: {}, ",
                                 way_words(*s.scenario.weights, *s.scenario.runtime), s.name);
  if (e.gpus_used > 0) text += card_memory(s.scenario, e) + ", ";
  return text + speed_words(s, " tokens/s");
}

/// "needs 59.9 GiB", on each GPU where nothing else is said.
std::string short_need(const Strategy& s) {
  return fmt::format("needs {} GiB{}", enough_gib(s.needed),
                     s.needed_of == Reason::ram    ? " of RAM"
                     : s.needed_of == Reason::disk ? " of disk"
                                                   : "");
}

std::string strategy_table(const Answer& answer) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < answer.strategies.size(); ++i) {
    const Strategy& s = answer.strategies[i];
    const Estimate& e = s.explained.estimate;
    std::vector<std::string> row{i == answer.chosen ? ">" : "", std::string(s.name)};
    if (s.feasible) {
      row.insert(row.end(),
                 {in_gib(e.gpu_bytes), in_gib(e.cpu_bytes), layers_cell(e, place(s.scenario, 1.0)),
                  speed_words(s, ""),
                  std::string(unmeasured_sign(intervals_of(s).ttft)) + duration(e.ttft.value()),
                  is_tight(s.scenario, e) ? "tight" : ""});
    } else {
      const bool known = s.needed > Bytes(0);
      row.insert(row.end(), {"", "", "", known ? short_need(s) : "", "",
                             known ? "" : std::string(report::reason_words(e.reason))});
    }
    rows.push_back(std::move(row));
  }
  constexpr int always = ScreenColumn::always;
  return screen_table({{"", false, always, {}},
                       {"strategy", false, always, {}},
                       {"GPU GiB", true, always, {}},
                       {"RAM GiB", true, 1, {}},
                       {"layers GPU / CPU / disk", true, 3, {}},
                       {"tokens/s", true, always, {}},
                       {"first token", true, 2, {}},
                       {"", false, always, {}}},
                      rows);
}

/// Options by which the engine makes the recommended strategy.
std::string passed_line(const Answer& answer) {
  const Strategy& s = answer.strategies[answer.chosen];
  const bool best = &s == &answer.strategies.back() && !answer.best_note.empty();
  if (best) return answer.best_flags.empty() ? "" : "Flags: " + answer.best_flags;
  if (!s.mapped) return {};
  if (!s.mapped->written)
    return "No max_memory gives this placement: pass the map itself (--format json)";
  return "max_memory=" + passed(s.mapped->memory);
}

/// How to start the recommended strategy, or all of the card where there is none.
std::string launch_of(const Answer& answer) {
  const bool any = answer.chosen < answer.strategies.size();
  return launch_words(
      answer.given, any ? answer.strategies[answer.chosen].scenario.gpu_budget : model::unlimited);
}

}  // namespace

std::string place_screen(const Answer& answer) {
  const GivenScenario& given = answer.given;
  std::string text =
      title_line(given) + paragraph(headline_of(answer)) + '\n' + strategy_table(answer) + '\n';
  const bool any = answer.chosen < answer.strategies.size();
  if (any) {
    const Strategy& chosen = answer.strategies[answer.chosen];
    text += memory_lines(chosen.explained);
    if (const std::string line = layers_line(chosen.explained); !line.empty())
      text += paragraph("Layers: " + line);
    if (const std::string line = passed_line(answer); !line.empty()) text += paragraph(line);
    text += paragraph(fmt::format("Why {}: {}.", chosen.name, answer.reason));
    text += own_placement_line(given, chosen.explained.estimate) + '\n';
  }
  for (const auto& line : answer.strategies.back().explained.warnings)
    text += paragraph("Warning: " + line);
  if (any) {
    const Strategy& chosen = answer.strategies[answer.chosen];
    text += tight_line(given, chosen.scenario, chosen.explained.estimate);
    if (const auto note = asked_note(chosen.scenario)) text += paragraph("Note: " + *note + '.');
  }
  for (const auto& note : answer.notes) text += paragraph("Note: " + note + '.');
  text += assumption_lines(given);
  text += footnote_of(text);
  return text +
         paragraph("Next: " + launch_of(answer) + ", or --details, --format json (the device map)");
}

}  // namespace headroom::sweep
