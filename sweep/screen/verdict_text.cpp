#include "sweep/screen/verdict_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/answer/explain.hpp"
#include "model/checkpoint/quantisation/stored.hpp"
#include "model/infer/confidence.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/placement/outside_share.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/serving.hpp"
#include "report/words.hpp"
#include "sweep/screen/advice_words.hpp"
#include "sweep/screen/answer_lines.hpp"

namespace headroom::sweep {
namespace {

using model::Estimate;
using model::Scenario;

/// The first of the model's doubts in few words.
std::string_view doubt_words(const Scenario& s) {
  const model::Model& model = *s.weights->model;
  if (!model.described_as_another.empty()) return "the description is of another class";
  if (model.checkpoint.lacks_lists)
    return "the config does not list the modules that stay in 16 bit";
  if (model::disagrees(model)) return "the tensors contradict the config";
  return "the config is not read in full";
}

/// True if doubts are all that makes the placement tight.
bool has_room_but_for_doubts(const Scenario& s, const Estimate& e) {
  return model::is_open_by_doubts_alone(s, e) &&
         e.gpu_bytes_high + spare_memory(s) <= model::largest_card_budget(s);
}

/// The reason why the high end of the interval is not safe.
std::string high_end(const Scenario& s, const Estimate& e) {
  if (has_room_but_for_doubts(s, e))
    return fmt::format("{}; without that doubt, {} of {} GiB at most are safe", doubt_words(s),
                       in_gib(e.gpu_bytes_high), in_gib(model::largest_card_budget(s)));
  if (const double safe = model::share_that_starts(s, model::place(s, 1.0)); safe > 0)
    return fmt::format(
        "its share of the card may not be free at start; --gpu-memory-utilization {} is safe",
        safe);
  if (e.gpu_bytes_high + spare_memory(s) <= model::card_budget(s, 0))
    return "at the high end of its interval the engine's share of a card does not hold it";
  const Bytes budget = model::card_budget(s, 0), spare = spare_memory(s);
  if (spare > Bytes(0) && e.gpu_bytes_high <= budget)
    return fmt::format("it may take {} of {} GiB, and {} should stay free",
                       in_gib(e.gpu_bytes_high), in_gib(budget), to_text(spare));
  return fmt::format("it may take {} of {} GiB", in_gib(e.gpu_bytes_high), in_gib(budget));
}

/// Differences at the ends of the interval; empty where there are none.
std::string open_words(const Scenario& s, const Estimate& e) {
  if (e.sure != model::Confidence::marginal) return {};
  if (model::is_open_by_doubts_alone(s, e)) return fmt::format(", but {}", doubt_words(s));
  if (!model::fits(e.verdict)) return ", or just fits";
  if (!model::is_at_limit(*s.runtime, e)) return ", memory not measured";
  const model::Interval memory = model::interval_factors(s).memory;
  if (!model::is_on_gpus(e)) return {};
  const Size high = model::cards_used(model::place(s, memory.high));
  if (high > e.gpus_used) return fmt::format(", perhaps only on {}", high);
  const Size low = model::cards_used(model::place(s, memory.low));
  if (low > 0 && low < e.gpus_used) return fmt::format(", perhaps on {}", low);
  return ", tight: " + high_end(s, e);
}

/// Words for host memory that is also the card's; empty where it is not short.
std::string shared_words(const Scenario& s, const Estimate& e) {
  const bool is_short = e.verdict == model::Verdict::does_not_fit && e.reason == model::Reason::ram;
  return is_short && s.machine->has_unified_memory() ? ", which the card shares" : "";
}

/// Cards on which the engine's share of the memory would suffice; empty where cards do not help.
std::string cards_that_hold(const Scenario& s, const Estimate& e) {
  const Bytes needed = model::needed_of_each_card(s, e);
  if (needed == Bytes(0)) return {};
  constexpr double tenths = 10.0 / GiB;
  return fmt::format(", {} of {:.1f} GiB would hold it",
                     s.machine->devices.size() == 1 ? "a card" : "cards",
                     std::ceil(tenths * real_count(needed)) / 10);
}

bool is_safe(const Scenario& s) {
  const Estimate e = model::evaluate(s);
  return model::is_on_gpus(e) && e.queued == 0 && !is_tight(s, e);
}

/// The largest smaller size, a multiple of `step`, at which the placement is safe; 0 where none of
/// at least `least` is.
Size safe_size(Scenario s, Size Scenario::*size, Size step, Size least) {
  const Size steps = model::largest((s.*size - 1) / step, [&](Size n) {
    s.*size = std::max(n * step, least);  // fewer are as safe as `least`
    return is_safe(s);
  });
  return steps * step >= least ? steps * step : 0;
}

/// The least budget of more MiB that is safe; 0: there is none, or no budget limits the cards.
Size safe_budget(Scenario s) {
  if (s.gpu_budget == model::unlimited) return 0;
  const auto mebibytes = [](Bytes bytes) { return divided_up(bytes.count(), Size{1} << 20); };
  const Size most = mebibytes(largest_card(*s.machine)), now = mebibytes(s.gpu_budget);
  // `largest` counts how far the budget can fall from the most and stay safe.
  const auto with = [&](Size budget) {
    s.gpu_budget = budget * mebibyte;
    return is_safe(s);
  };
  if (now >= most || !with(most)) return 0;
  return most - model::largest(most - now - 1, [&](Size less) { return with(most - less); });
}

}  // namespace

std::string verdict_text(const Scenario& s, const Estimate& e) {
  report::ModelRow line;
  if (!s.machine->devices.empty()) line.gpu_memory = s.machine->devices[0].memory.count();
  return report::verdict_words(line, {.point = 0, .budget = {}, .estimate = e}) + open_words(s, e) +
         shared_words(s, e) + cards_that_hold(s, e);
}

std::string refusal_text(const model::Scenario& s) {
  const model::Explanation explained = model::explain(s);
  std::string text = fmt::format("refused with {}: {}", way_words(*s.weights, *s.runtime),
                                 report::reason_words(explained.estimate.reason));
  if (!explained.advice.empty()) text += "; " + advice_words(explained.advice);
  return text;
}

std::string tight_line(const GivenScenario& given, const Scenario& s, const Estimate& e) {
  if (!is_tight(s, e)) return {};
  if (has_room_but_for_doubts(s, e)) return paragraph(fmt::format("Tight: {}.", high_end(s, e)));
  std::vector<std::string> safe;
  if (const Size budget = safe_budget(s); budget > 0)
    safe.push_back(fmt::format("--gpu-budget {}MiB", budget));
  if (const Size context = safe_size(s, &Scenario::context, 256,
                                     std::max<Size>(1, s.prompt_tokens + s.output_tokens));
      context > 0)
    safe.push_back(fmt::format("--context {}", context));
  if (const Size batch = safe_size(s, &Scenario::batch, 1, 1); batch > 0)
    safe.push_back(fmt::format("--batch {}", batch));
  // Ways are compared without what else was asked for, such as images.
  const auto way = std::ranges::find_if(given.ways, [&](const Way& each) {
    if (!model::is_on_gpus(each.estimate) || each.tight || each.weights == nullptr) return false;
    Scenario other = s;
    other.runtime = each.engine;
    other.weights = each.weights.get();
    return is_safe(other);
  });
  if (way != given.ways.end())
    safe.push_back(fmt::format("--precision {}", way->weights->scheme->name));
  return paragraph(fmt::format("Tight: {}; {}.", high_end(s, e),
                               safe.empty() ? std::string("fewer bits or a larger card is safe")
                                            : fmt::format("{} is safe", fmt::join(safe, " or "))));
}

}  // namespace headroom::sweep
