#include "sweep/screen/answer_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/service.hpp"
#include "model/infer/serving.hpp"
#include "model/infer/usable_speed.hpp"
#include "report/words.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/advice_words.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/screen/card_memory.hpp"
#include "sweep/screen/interval_words.hpp"
#include "sweep/screen/screen_table.hpp"
#include "sweep/screen/traffic_output.hpp"
#include "sweep/screen/verdict_text.hpp"

namespace headroom::sweep {
namespace {

using model::Estimate;
using model::Interval;
using model::Verdict;

/// Ways that a screen compares: as many as leave it within its lines.
constexpr std::size_t most_ways = 7, fewest_ways = 2;

/// Output tokens a second and the first token of a way, in words.
struct WaySpeed {
  std::string tokens, first;
};

/// Tokens of prompts a second, where nothing is written.
double prompt_rate(const model::Scenario& s, const Estimate& e) {
  const Size sequences = s.batch * std::max<Size>(1, s.data_parallel);
  return static_cast<double>(sequences * s.prompt_tokens) / e.ttft.value();
}

std::string_view rate_unit(const model::Scenario& s) {
  return !s.weights->model->writes() ? "prompt tokens/s"
         : s.batch > 1               ? "output tokens/s"
                                     : "tokens/s";
}

/// "first token"; where nothing is written, the time for all prompts.
std::string_view first_time_words(const model::Scenario& s) {
  return s.weights->model->writes() ? "first token" : s.batch > 1 ? "the prompts" : "the prompt";
}

/// One request counts by its decoding. Several at once count as whole requests, as the lines below
/// the table have them. A model that writes nothing counts by its prompts.
WaySpeed speed_of_way(const model::Scenario& s, const Estimate& e) {
  const auto words = [](double rate, const Interval& rate_of, Seconds first,
                        const Interval& first_of) {
    return WaySpeed{rate_with_interval(rate, rate_of, ""),
                    std::string(unmeasured_sign(first_of)) + duration(first.value())};
  };
  const bool writes = s.weights->model->writes();
  if (s.batch < 2 || !writes) {
    const model::TimeIntervals of = model::interval_factors(s).times(e);
    if (!writes) return words(prompt_rate(s, e), of.ttft, e.ttft, of.ttft);
    return words(e.tokens_s, of.tpot, e.ttft, of.ttft);
  }
  const model::Service seen = model::service_of(s, e);
  return words(served_tokens_s(s, e), seen.time, seen.ttft, seen.first);
}

/// "Fits with q4_K_M under llama.cpp: 19.2 of 24.0 GiB, 38.9 tokens/s (34–52)".
std::string headline(const GivenScenario& given, const Estimate& e, const model::Traffic* load) {
  const model::Scenario& s = given.scenario;
  const std::string with = "with " + way_words(*s.weights, *s.runtime);
  if (!model::fits(e.verdict)) {
    std::string words = verdict_text(s, e);
    words.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(words.front())));
    const auto colon = std::min(words.find(':'), words.size());
    return words.substr(0, colon) + ' ' + with + words.substr(colon);
  }
  std::string text;
  const bool too_slow = model::is_too_slow(e);
  if (too_slow)
    text = model::is_on_gpus(e) ? "Fits, but too slow to use, " : "Too slow to use ";
  else if (model::is_on_gpus(e))
    text = is_tight(s, e) ? "Tight " : "Fits ";
  else
    text = e.gpus_used == 0 ? "Runs on the CPU " : "Needs offload ";
  text += with + ": ";
  if (e.gpus_used > 0)
    text += card_memory_of_budget(s, e) + in_boxes(*s.machine, e.gpus_used);
  else
    text += in_gib(e.cpu_bytes) + " GiB of RAM";
  if (e.gpus_used == 0 && e.disk_bytes > Bytes(0))
    text += ", " + in_gib(e.disk_bytes) + " GiB of disk";
  if (e.gpus_used > 0 && !model::is_on_gpus(e))
    text += fmt::format(", {} of the weights elsewhere", percent(share_off_cards(s)));
  if (too_slow)
    text += fmt::format(", {} a token",
                        time_with_interval(e.tpot, model::interval_factors(s).times(e).tpot));
  else if (load)
    text += ", " + traffic_rate(*load, s, e);
  else if (!s.weights->model->writes())
    text += ", " + rate_with_interval(prompt_rate(s, e), model::interval_factors(s).times(e).ttft,
                                      " prompt tokens/s");
  else if (e.tokens_s > 0 && s.batch > 1)
    text += ", " + speed_of_way(s, e).tokens + " output tokens/s";
  else if (e.tokens_s > 0)
    text += ", " + speed_of(e, model::interval_factors(s).times(e).tpot, " tokens/s");
  if (s.data_parallel > 1) text += fmt::format(" of {} copies together", s.data_parallel);
  return text;
}

/// A line where the CPU alone is much faster than cards that wait for weights; else empty.
std::string slower_with_cards(const model::Explanation& explained) {
  constexpr double much = 2;
  for (const model::Advice& change : explained.advice) {
    if (change.kind != model::Advice::Kind::no_cards) continue;
    const Seconds now = explained.estimate.tpot, alone = change.then.token;
    if (const double times = now / alone; times >= much)
      return paragraph(fmt::format(
          "Slower with cards than without: they wait for weights from host memory or disk. "
          "--gpu-budget 0 runs it on the CPU alone, {} times as fast: {} instead of {} a token.",
          three_digits(times), duration(alone.value()), duration(now.value())));
  }
  return {};
}

std::string note_of(const Way& way) {
  const Estimate& e = way.estimate;
  if (e.verdict == Verdict::refused) return "refused";
  if (!model::fits(e.verdict)) return "does not fit";
  std::string note = placement_note(e, {.tight = way.tight,
                                        .without_towers = way.without_towers,
                                        .below_four_bits = below_four_bits(way)});
  constexpr std::string_view offload = "offload";
  if (note.starts_with(offload)) note.insert(offload.size(), ' ' + percent(way.off_cards));
  return note;
}

std::vector<std::string> row_of(const Way& way, const model::Scenario& asked, Size most_gpus,
                                std::string_view mark) {
  model::Scenario s = asked;
  run_by(s, way);
  const Estimate& e = way.estimate;
  const bool runs = model::fits(e.verdict);
  const WaySpeed speed = runs ? speed_of_way(s, e) : WaySpeed{};
  const Size context = model::is_on_gpus(e) ? model::longest_context(s) : 0;
  return {std::string(mark),
          std::string(way.weights->scheme->name),
          std::string(way.engine->name),
          runs ? memory_cell(e, most_gpus) : "",
          context > 0 ? grouped(context) : "",
          e.tokens_s > 0 || !s.weights->model->writes() ? speed.tokens : "",
          speed.first,
          note_of(way)};
}

/// The best way of each precision. One precision that was asked for has the way of each engine.
/// Ways that need more memory than there is are left out beside offload.
std::vector<const Way*> compared_ways(const std::vector<Way>& ways) {
  auto best = best_of_each_precision(ways, ways.size());
  if (best.size() <= 1) {
    best.clear();
    for (const Way& way : ways) best.push_back(&way);
  }
  const Estimate& first = ways.front().estimate;
  if (model::fits(first) && !model::is_on_gpus(first))
    std::erase_if(best, [](const Way* way) { return !model::fits(way->estimate); });
  return best;
}

std::string ways_table(const GivenScenario& given, std::span<const Way* const> shown) {
  Size most_gpus = 0;
  for (const Way* way : shown)
    if (model::fits(way->estimate)) most_gpus = std::max<Size>(most_gpus, way->estimate.gpus_used);
  std::vector<std::vector<std::string>> rows;
  for (const Way* way : shown)
    rows.push_back(row_of(*way, given.scenario, most_gpus, way == given.ways.data() ? ">" : ""));
  constexpr int always = ScreenColumn::always;
  return screen_table({{"", false, always, {}},
                       {"precision", false, always, {}},
                       {"engine", false, always, {}},
                       {std::string(memory_heading(most_gpus)), true, always, {}},
                       {"context to", true, 1, {}},
                       {std::string(rate_unit(given.scenario)), true, always, {}},
                       {std::string(first_time_words(given.scenario)), true, 2, {}},
                       {"", false, always, {}}},
                      rows);
}

/// `s` with a prompt that fills the context, where that is much longer than the asked one.
std::optional<model::Scenario> full_context(model::Scenario s) {
  constexpr Size much = 4;
  if (!s.weights->model->writes() || s.context <= much * (s.prompt_tokens + s.output_tokens))
    return std::nullopt;
  s.prompt_tokens = s.context - s.output_tokens;
  return s;
}

std::string time_lines(const model::Scenario& s, const Estimate& e) {
  const model::TimeIntervals of = model::interval_factors(s).times(e);
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](std::string_view name, double seconds, const Interval& interval) {
    if (seconds > 0 && std::isfinite(seconds))
      rows.push_back({std::string(name), std::string(unmeasured_sign(interval)) + duration(seconds),
                      fmt::format("{} to {}", duration(seconds * interval.low),
                                  duration(seconds * interval.high))});
  };
  add("load", e.load.value(), of.load);
  add(first_time_words(s), e.ttft.value(), of.ttft);
  add("each further token", e.tpot.value(), of.tpot);
  if (const auto full = full_context(s)) {
    const Estimate end = model::evaluate(*full);
    add(fmt::format("the same behind {} tokens", grouped(full->prompt_tokens)), end.tpot.value(),
        model::interval_factors(*full).times(end).tpot);
  }
  return aligned({"time", "expected", "80 % interval"}, {false, true, false}, rows);
}

/// "Load: 4.73 min (2.35 min–6.23 min)."
std::string load_line(const model::Scenario& s, const Estimate& e) {
  const Interval& of = model::interval_factors(s).times(e).load;
  return paragraph(fmt::format("Load: {}.", time_with_interval(e.load, of)));
}

/// Lines below the comparison of ways.
std::string chosen_way(const GivenScenario& given, const model::Explanation& explained,
                       const model::Traffic* load, const std::vector<std::string>& notes) {
  const Estimate& e = explained.estimate;
  const model::Scenario& s = given.scenario;
  std::string text;
  if (model::fits(e.verdict))
    text += memory_lines(explained) + '\n' + (load ? load_line(s, e) : time_lines(s, e) + '\n');
  if (load) text += traffic_lines(*load, s, e, TrafficRows::few) + '\n';
  for (const auto& line : explained.warnings) text += paragraph("Warning: " + line);
  text += tight_line(given, s, e);
  if (!explained.advice.empty() && !model::is_on_gpus(e) && !given.machine->devices.empty())
    text += paragraph("Advice: " + advice_words(explained.advice));
  for (const std::string& note : notes) text += paragraph("Note: " + note);
  return text + assumption_lines(given);
}

/// Lines where nothing runs: warnings, and changes that would help.
std::string why_not(const GivenScenario& given, const model::Explanation& explained,
                    const std::vector<std::string>& notes) {
  std::string text;
  for (const auto& line : explained.warnings) text += paragraph("Warning: " + line);
  if (!explained.advice.empty()) text += paragraph("Advice: " + advice_words(explained.advice));
  for (const std::string& note : notes) text += paragraph("Note: " + note);
  if (explained.estimate.verdict == Verdict::refused) return text;
  if (given.ways.size() > 1)
    text += paragraph(fmt::format("None of {} ways to run it fits; --details shows this one.",
                                  given.ways.size()));
  return text + assumption_lines(given);
}

}  // namespace

std::string answer_text(const GivenScenario& given, const model::Explanation& explained,
                        const std::optional<model::Traffic>& serving,
                        const std::vector<std::string>& notes) {
  const Estimate& e = explained.estimate;
  const model::Traffic* load =
      serving && (given.scenario.batch > 1 || has_spread(*serving)) ? &*serving : nullptr;
  const std::string head =
      title_line(given) + paragraph(headline(given, e, load)) + slower_with_cards(explained) + '\n';
  const std::string tail = model::fits(e.verdict) ? chosen_way(given, explained, load, notes)
                                                  : why_not(given, explained, notes);
  const auto ended = [&](const std::string& text, std::size_t more = 0) {
    if (!model::fits(e.verdict)) return text;
    return text + footnote_of(text) +
           paragraph(fmt::format("Next: headroom launch {}, or --details, --explain{}", given.asked,
                                 more == 0
                                     ? ""
                                     : fmt::format(", --format json ({})",
                                                   counted(static_cast<Size>(more), "more way"))));
  };
  if (given.ways.size() < 2 || !model::fits(e.verdict)) return ended(head + tail);
  const std::vector<const Way*> all = compared_ways(given.ways);
  std::string text;
  for (std::size_t most = std::min(most_ways, all.size());; --most) {
    text = ended(head + ways_table(given, std::span(all).first(most)) + '\n' + tail,
                 all.size() - most);
    if (std::ranges::count(text, '\n') <= screen_lines || most <= fewest_ways) return text;
  }
}

}  // namespace headroom::sweep
