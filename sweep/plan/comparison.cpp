#include "sweep/plan/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "hardware/quantity_text.hpp"
#include "model/answer/narrow_formats.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/serving.hpp"
#include "sweep/best_way.hpp"
#include "sweep/output.hpp"
#include "sweep/plan/speed_words.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/screen/card_memory.hpp"
#include "sweep/screen/demand_words.hpp"
#include "sweep/screen/interval_words.hpp"
#include "sweep/screen/money.hpp"
#include "sweep/screen/screen_table.hpp"

namespace headroom::sweep {
namespace {

std::string verdict_words_of(const Candidate& c, const model::Target& target) {
  if (!c.qualifies()) return "no: " + std::string(model::name_of(c.serving.next.miss));
  const model::Estimate& e = c.serving.estimate;
  return placement_note(e, {.tight = c.tight || may_be_late(c, target),
                            .without_towers = c.facts.without_towers,
                            .below_four_bits = model::is_below_four_bits(*c.weights->scheme)});
}

/// Times at the demand where requests arrive at random, else with every sequence at work.
const model::Service& seen_of(const Candidate& c, const model::Target& target) {
  return target.at_random() ? c.demand.service : c.serving.service;
}

/// True if copies differ in their cards. Those of fewer may be faster at the demand, and hold fewer
/// users at most.
bool have_unlike_copies(std::span<const Candidate> shown) {
  return std::ranges::any_of(shown, [&](const Candidate& c) {
    return c.qualifies() && (c.serving.cards != shown.front().serving.cards ||
                             c.serving.attention != shown.front().serving.attention);
  });
}

/// "2x 4 GPUs", "1x 8 GPUs, DP 8".
std::string copies_cell(const model::Serving& s) {
  return fmt::format("{}x {}{}", s.copies(), counted(s.cards_of_copy(), "GPU"),
                     s.attention > 1 ? fmt::format(", DP {}", s.attention) : "");
}

std::vector<ScreenColumn> columns_of(const PlanScreen& screen, std::span<const Candidate> shown) {
  std::vector<ScreenColumn> columns;
  const auto add = [&](std::string heading, bool right, int importance, auto&& cell) {
    ScreenColumn column{std::move(heading), right, importance, {}};
    for (const Candidate& each : shown) column.cells.push_back(cell(each));
    columns.push_back(std::move(column));
  };
  const auto served = [](auto&& words) {
    return [words](const Candidate& c) { return c.qualifies() ? words(c) : std::string(); };
  };
  const bool context = screen.question.vary == model::Vary::context;
  add("", false, ScreenColumn::always,
      [&](const Candidate& c) { return &c == shown.data() ? ">" : ""; });
  if (screen.models > 1)
    add("model", false, ScreenColumn::always,
        [](const Candidate& c) { return std::string(short_model_name(c.weights->model->name)); });
  add("precision", false, ScreenColumn::always,
      [](const Candidate& c) { return std::string(c.weights->scheme->name); });
  add("engine", false, ScreenColumn::always,
      [](const Candidate& c) { return std::string(c.engine->name); });
  if (screen.machines > 1)
    add("machine", false, ScreenColumn::always, [](const Candidate& c) {
      return (c.machines > 1 ? fmt::format("{} of ", c.machines) : "") + given_machine(*c.machine);
    });
  if (screen.prices) {
    add("an hour", true, ScreenColumn::always, served([&](const Candidate& c) {
          return c.per_hour ? three_digits(*c.per_hour) + ' ' + screen.prices->currency : "";
        }));
    add("", false, 4,
        [](const Candidate& c) { return std::string(acquisition_words(*c.acquisition)); });
  }
  if (context)
    add("context", true, 8, served([](const Candidate& c) { return grouped(c.serving.context); }));
  const bool at_demand = is_at_demand(screen.question, shown.front());
  add(context     ? "sequences"
      : at_demand ? "most users"
                  : "users",
      true, context ? 1 : 8, served([](const Candidate& c) { return grouped(fleet_users(c)); }));
  add("copies", true, at_demand && have_unlike_copies(shown) ? 6 : 3,
      served([](const Candidate& c) { return copies_cell(c.serving); }));
  Size most_gpus = 0;
  for (const Candidate& each : shown)
    if (each.qualifies()) most_gpus = std::max<Size>(most_gpus, each.serving.estimate.gpus_used);
  add(std::string(memory_heading(most_gpus)), true, 2,
      served([&](const Candidate& c) { return memory_cell(c.serving.estimate, most_gpus); }));
  add("tokens/s", true, 7, served([&](const Candidate& c) {
        return at_demand ? demand_rate_words(c, "") : rate_words(c, "");
      }));
  add("first token", true, 5, served([&](const Candidate& c) {
        const model::Service& seen = at_demand ? c.demand.service : seen_of(c, screen.target);
        return std::string(unmeasured_sign(seen.first)) + duration(seen.ttft.value());
      }));
  add("measured", false, 4, [](const Candidate& c) { return measured_words(running_way(c)); });
  add("", false, 6, [&](const Candidate& c) { return verdict_words_of(c, screen.target); });
  return columns;
}

/// "No FP8 units on rtx-3090: vllm multiplies fp8 in 16 bit, and memory stays."; empty where the
/// cards have them.
std::string unpacked_words(const Candidate& c) {
  const auto& cards = c.machine->devices;
  const auto lacking = std::ranges::find_if(
      cards, [&](const Device& card) { return !card.has_units(c.weights->arithmetic); });
  if (lacking == cards.end() || lacking->vendor.empty()) return {};
  const auto of = c.weights->arithmetic;
  const std::string_view units = of == Arithmetic::fp8    ? "FP8"
                                 : of == Arithmetic::int8 ? "INT8"
                                                          : "FP4";
  return fmt::format("No {} units on {}: {} multiplies {} in 16 bit, and memory stays.", units,
                     lacking->name, c.engine->name, c.weights->scheme->name);
}

/// The precisions of the candidates that qualify, in their order.
std::vector<std::string_view> precisions_of(std::span<const Candidate> candidates) {
  std::vector<std::string_view> names;
  for (const Candidate& each : candidates)
    if (each.qualifies() && std::ranges::find(names, each.weights->scheme->name) == names.end())
      names.push_back(each.weights->scheme->name);
  return names;
}

}  // namespace

std::string weights_words(const PlanScreen& screen) {
  std::string text;
  const auto names = precisions_of(screen.candidates);
  if (screen.models == 1 && screen.machines > 1 && screen.has_chosen_weights && names.size() > 1)
    text = fmt::format(
        "Weights differ between machines ({}{}): --precision takes one for all. ",
        fmt::join(names.begin(), names.begin() + std::min<long>(4, std::ssize(names)), ", "),
        names.size() > 4 ? ", …" : "");
  text += unpacked_words(screen.candidates.front());
  return text.empty() ? text : paragraph(text);
}

std::string memory_words(const Candidate& c) {
  const model::Estimate& e = c.serving.estimate;
  const auto share = model::share_of(*c.machine, c.serving);
  const model::Scenario copy = model::on(c.scenario, share);
  if (!share.machine.has_one_kind()) return card_memory_of_budget(copy, e);
  return fmt::format("{} of {} GiB on {}", in_gib(e.gpu_bytes), in_gib(model::card_budget(copy, 0)),
                     c.serving.cards > 1 ? fmt::format("each of a copy's {} GPUs", c.serving.cards)
                     : c.serving.replicas > 1 ? std::string("each GPU")
                                              : std::string("the GPU"));
}

namespace {

/// The fastest of the candidates whose weights have room outside the cards, which was not allowed.
std::optional<model::Estimate> fastest_off_cards(const PlanScreen& screen) {
  std::optional<model::Estimate> fastest;
  if (screen.target.offload) return fastest;
  for (const Candidate& each : screen.candidates) {
    const model::Miss miss = each.serving.next.miss;
    if (miss != model::Miss::offload && miss != model::Miss::memory) continue;
    const model::Estimate e = model::evaluate(each.scenario);
    if (model::fits(e) && (!fastest || e.tpot < fastest->tpot)) fastest = e;
  }
  return fastest;
}

}  // namespace

std::string offloaded_words(const PlanScreen& screen) {
  const Candidate& best = screen.candidates.front();
  if (!best.qualifies()) {
    const auto found = fastest_off_cards(screen);
    return !found ? std::string()
           : model::is_too_slow(*found)
               ? paragraph(fmt::format("With weights off the cards it is too slow to use, {}: "
                                       "--allow-offload, --max-tpot.",
                                       token_time_words(found->tpot)))
               : paragraph("It runs with weights off the cards: --allow-offload.");
  }
  if (!screen.question.ranks_precisions) return {};
  const Candidate* first = &best;
  for (const Candidate& each : screen.candidates)
    if (each.machine == best.machine && !each.qualifies() &&
        each.serving.next.miss == model::Miss::offload && each.place < first->place)
      first = &each;
  if (first == &best) return {};
  return paragraph(fmt::format("Off the cards `estimate` takes {}: --allow-offload.",
                               way_words(*first->weights, *first->engine)));
}

std::string demand_rate_words(const Candidate& c, std::string_view unit) {
  const model::Service& seen = c.demand.service;
  if (c.demand.requests == 1)
    return rate_with_interval(static_cast<double>(serving_copies(c)) / seen.tpot.value(), seen.step,
                              unit);
  return rate_with_interval(demand_tokens_s(c), seen.time, unit);
}

std::string rate_words(const Candidate& c, std::string_view unit) {
  const model::Service& seen = c.serving.service;
  return rate_with_interval(fleet_tokens_s(c), c.decodes ? seen.step : seen.time, unit);
}

bool may_be_late(const Candidate& c, const model::Target& target) {
  // The queue of a strict target is already at the ends of its intervals.
  if (target.at_random() && target.strict) return false;
  const model::Service& seen = seen_of(c, target);
  const auto late = [](Seconds time, const model::Interval& of, std::optional<Seconds> most) {
    return most && time.value() * of.high > most->value();
  };
  // Times of the slowest are at the ends of their intervals already where the target is strict.
  if (c.demand.slowest && !target.strict &&
      (c.demand.slowest->ttft_p95.value() * seen.first.high > target.late.ttft_p95 ||
       c.demand.slowest->tpot_p95.value() * seen.step.high > target.late.tpot_p95 ||
       c.demand.slowest->total_p99.value() * seen.time.high > target.late.total_p99))
    return true;
  return late(seen.ttft, seen.first, target.ttft) || late(seen.tpot, seen.step, target.tpot);
}

std::string plan_comparison(const PlanScreen& screen, std::size_t most) {
  // Cards that no copy uses are no answer of their own to how many it takes.
  std::vector<Candidate> shown;
  for (const Candidate& each : screen.candidates)
    if (shown.size() < most &&
        (shown.empty() || !screen.question.counts_cards || idle_cards(each) == 0))
      shown.push_back(each);
  return screen_table(columns_of(screen, shown));
}

std::string cost_words(const Prices& prices, const Candidate& c) {
  if (!c.per_hour) return {};
  return *c.per_hour < 1000
             ? fmt::format("{} {} an hour", three_digits(*c.per_hour), prices.currency)
             : money(*c.per_hour, prices.currency) + " an hour";
}

std::string cost_words(const PlanScreen& screen, const Candidate& c) {
  return c.per_hour ? cost_words(*screen.prices, c) : std::string();
}

}  // namespace headroom::sweep
