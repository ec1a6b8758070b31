#include "sweep/plan/screen.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "model/answer/cost.hpp"
#include "model/answer/narrow_formats.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/serving.hpp"
#include "sweep/plan/comparison.hpp"
#include "sweep/plan/sequences_words.hpp"
#include "sweep/plan/speed_words.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/screen/asked_note.hpp"
#include "sweep/screen/demand_words.hpp"
#include "sweep/screen/interval_words.hpp"
#include "sweep/screen/money.hpp"
#include "sweep/screen/screen_table.hpp"

namespace headroom::sweep {
namespace {

constexpr std::size_t most_rows = 7;

std::string plan_title(const PlanScreen& screen) {
  const Candidate& best = screen.candidates.front();
  const std::string models = screen.models == 1
                                 ? fmt::format("{} ({} parameters)", best.weights->model->name,
                                               size_words(*best.weights->model))
                                 : fmt::format("{} models", screen.models);
  const std::size_t with_answer = screen.machines - screen.left_out.size();
  const std::string machines =
      screen.machines == 1 ? best.machine->name
      : screen.question.counts_cards
          ? fmt::format("1 to {} of {}", screen.machines, best.machine->devices.front().name)
          : fmt::format("{}{}", counted(static_cast<Size>(with_answer), "machine"),
                        screen.prices ? " with a price" : "");
  return fmt::format("{} on {}", models, machines);
}

/// " with 59 sequences", where the demand is less.
std::string with_sequences(const PlanScreen& screen, const Candidate& c) {
  if (!is_at_demand(screen.question, c) || c.demand.requests == c.serving.batch) return {};
  return " with " + grouped(c.serving.batch, "sequence");
}

std::string machines_words(const Candidate& c) {
  return c.machines == 1 ? c.machine->name : fmt::format("{} of {}", c.machines, c.machine->name);
}

/// The thing that the question asks for, with its number.
std::string answer_words(const PlanScreen& screen, const Candidate& c) {
  const std::string way = way_words(*c.weights, *c.engine) +
                          (model::is_below_four_bits(*c.weights->scheme) ? " (below 4 bits)" : "");
  const std::string sequences =
      (is_at_demand(screen.question, c) ? "up to " : "") + sequences_words(c);
  return fmt::format(
      fmt::runtime(screen.question.answer), fmt::arg("model", c.weights->model->name),
      fmt::arg("size", size_words(*c.weights->model)), fmt::arg("way", way),
      fmt::arg("sequences", sequences), fmt::arg("batch", batch_words(c)),
      fmt::arg("context", grouped(c.serving.context, "token") +
                              (fleet_users(c) > 1 ? " for each of " + sequences : "")),
      fmt::arg("cards", c.machine->devices.size()), fmt::arg("machines", machines_words(c)),
      fmt::arg("acquisition", c.acquisition ? acquisition_words(*c.acquisition) : ""),
      fmt::arg("cost", cost_words(screen, c)));
}

/// The options of a copy whose attention has replicas; empty for others.
std::string attention_words(const Candidate& c) {
  if (c.serving.attention < 2) return {};
  return paragraph(
      fmt::format("Split: --dp {} --ep {} --batch {}, as tensor parallelism copies the latent "
                  "cache to every GPU.",
                  c.serving.attention, c.serving.cards_of_copy(), c.serving.batch));
}

/// The thing that is asked for, its rate, and where.
std::string whole_answer(const PlanScreen& screen, const Candidate& c) {
  const bool at_demand = is_at_demand(screen.question, c);
  std::string text = answer_words(screen, c) + ", " +
                     (at_demand ? demand_rate_words(c, " tokens/s") + " at the demand"
                                : rate_words(c, " tokens/s"));
  if (screen.machines > 1 && !screen.question.priced && !screen.question.counts_cards)
    text += " on " + c.machine->name;
  return text;
}

/// A line for the candidate that has more and was passed over.
std::string more_words(const PlanScreen& screen) {
  const Candidate& best = screen.candidates.front();
  if (!best.qualifies() || !best.more) return {};
  const std::string_view why = best.more->loses_more && !best.loses_more ? "Narrower"
                               : fleet_tokens_s(*best.more) < fleet_tokens_s(best)
                                   ? "More, but slower"
                                   : "Hardly more";
  return paragraph(fmt::format("{}: {}.", why, whole_answer(screen, *best.more)));
}

std::string plan_headline(const PlanScreen& screen) {
  const Candidate& best = screen.candidates.front();
  if (!best.qualifies())
    return fmt::format(
        "Nothing qualifies ({} tried). The closest is {} with {}: {}.", screen.candidates.size(),
        screen.models == 1 ? best.machine->name : best.weights->model->name,
        way_words(*best.weights, *best.engine), limit_words(screen, best.serving.next));
  return fmt::format("{}{}: {}", unsuitable_words(screen, best), screen.question.headline,
                     whole_answer(screen, best));
}

std::string time_words_of(const PlanScreen& screen, const Candidate& best) {
  const model::Service& seen = best.serving.service;
  return fmt::format(
      "Time{}: first token {}, each further token {}{}.",
      screen.question.vary == model::Vary::context
          ? fmt::format(" behind a prompt of {} tokens", grouped(best.scenario.prompt_tokens))
          : with_sequences(screen, best),
      time_with_interval(seen.ttft, seen.first), time_with_interval(seen.tpot, seen.step),
      user_speed_words(seen));
}

std::string serving_lines(const PlanScreen& screen, const Candidate& best) {
  std::string text;
  if (best.serving.estimate.gpus_used > 0)
    text += paragraph(fmt::format("Memory{}: {}, {} tokens of context each.",
                                  with_sequences(screen, best), memory_words(best),
                                  grouped(best.serving.context)));
  if (const Size idle = idle_cards(best); idle > 0)
    text += paragraph(fmt::format("Uses {} of the {} cards: copies on more of them serve less.",
                                  best.serving.cards * best.serving.replicas,
                                  best.machine->devices.size()));
  text += attention_words(best);
  const bool at_random = screen.target.at_random();
  if (!at_random) text += paragraph(time_words_of(screen, best));
  if (best.demand.requests > 0)
    text += paragraph(fmt::format(
        "At {}: {} a {}, first token {}, each further token {}.",
        has_load(screen.target) ? "the demand" : "this load",
        grouped(best.demand.requests, "sequence"), best.serving.attention > 1 ? "replica" : "copy",
        time_with_interval(best.demand.service.ttft, best.demand.service.first),
        time_with_interval(best.demand.service.tpot, best.demand.service.step)));
  if (best.demand.slowest)
    text += paragraph((screen.target.strict ? "Slowest, at the high ends: " : "Slowest: ") +
                      slowest_words(best, screen.target) + '.');
  const bool full = best.tight;
  const bool late = may_be_late(best, screen.target);
  if (full || late)
    text += paragraph(fmt::format(
        "Tight: {} at the high end of {}{}.",
        full && late ? "memory may not suffice and times may exceed what is allowed"
        : full       ? "memory may not suffice"
                     : "times may exceed what is allowed",
        full && !late ? "its interval" : "their intervals",
        screen.strict_answer.empty() ? "; --strict asks for an answer that is safe" : ""));
  const auto share = model::share_of(*best.machine, best.serving);
  if (const auto note = asked_note(model::on(best.scenario, share)))
    text += paragraph("Note: " + *note + '.');
  text += paragraph("Measured: " + measured_line(running_way(best)) + '.');
  const std::string cache =
      screen.question.vary == model::Vary::context ? narrower_cache_words(best) : std::string();
  text += paragraph("Limit of more: " + limit_words(screen, best.serving.next) +
                    (cache.empty() ? "" : "; " + cache) + '.');
  if (best.tokens)
    text += paragraph(fmt::format(
        "Cost {}: {} a month; 1,000 requests {}; a million tokens {} in, {} out.",
        has_load(screen.target) ? "at your load" : "at capacity",
        money(std::round(model::hours_per_month * *best.per_hour), screen.prices->currency),
        three_digits(1000 * best.tokens->request), three_digits(best.tokens->input_per_million),
        three_digits(best.tokens->output_per_million)));
  std::string room = screen.target.users > 0
                         ? fmt::format("Room: {} beyond those asked for; ",
                                       grouped(fleet_users(best) - screen.target.users, "user"))
                         : std::string("Room: ");
  if (has_load(screen.target)) text += paragraph(room + spares_words(best) + '.');
  return text;
}

/// Machines without an answer, a line for few and a count of the rest.
std::string left_out_words(const PlanScreen& screen) {
  const std::size_t all = screen.left_out.size(), shown = all <= 3 ? all : 2;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += paragraph("Left out: " + screen.left_out[i] + '.');
  if (all > shown)
    text +=
        paragraph(fmt::format("Left out: {} more machines; --details names them.", all - shown));
  return text;
}

/// The value of --context without the usual tokens beyond prompt and output.
std::string just_these(const model::Scenario& s) {
  const Size tokens = s.prompt_tokens + s.output_tokens;
  if (s.context > 0 || s.least_context <= tokens) return "";
  return fmt::format(" {} for just these", tokens);
}

std::string plan_assumptions(const PlanScreen& screen) {
  const model::Scenario& s = screen.candidates.front().scenario;
  const bool fills = screen.question.vary == model::Vary::context;
  std::string text = fmt::format("Assumes {}{} (--prompt-tokens, --output-tokens)",
                                 fills ? "" : "a prompt of " + grouped(s.prompt_tokens) + " and ",
                                 grouped(s.output_tokens, "output token"));
  if (!fills && (s.context == 0 || screen.has_usual_context))
    text += fmt::format("; a context of {} tokens{} (--context{})", grouped(s.cached_tokens()),
                        s.batch > 1 ? " each" : "", just_these(s));
  text += fills ? "; tokens/s of decoding behind that prompt"
                : "; tokens/s of decoding where a copy has one sequence, else of whole requests";
  if (screen.has_chosen_ways)
    text += fills || screen.question.ranks_precisions
                ? "; every usual precision, under the engine that runs it best (--runtime)"
            : screen.question.spares && has_load(screen.target)
                ? "; any weights of 4 bits or more, under the engine that needs least (--runtime, "
                  "--precision)"
            : weighs_ways(screen.question, screen.target)
                ? "; any weights of 4 bits or more, under the engine that serves most (--runtime, "
                  "--precision)"
                : "; each model in the weights and under the engine that `estimate` takes "
                  "(--runtime, --precision)";
  if (const auto speed = least_speed_words(screen.target); !speed.empty()) text += "; " + speed;
  if (const auto arrivals = arrivals_words(screen.target); !arrivals.empty())
    text += "; " + arrivals;
  std::string all = paragraph(text + '.');
  for (const auto& each : screen.assumed) all += paragraph("Assumes " + each + '.');
  if (const auto prices = price_words(screen); !prices.empty()) all += paragraph(prices);
  return all;
}

/// A sentence where the source of a card's rent offers other numbers of it than the machine has.
std::string offered_words(const Price& rent, const Candidate& c) {
  const auto cards = static_cast<int>(c.machine->devices.size());
  if (rent.counts.empty() || std::ranges::find(rent.counts, cards) != rent.counts.end()) return {};
  return fmt::format(" It offers {} of them at once, not {}.", fmt::join(rent.counts, " or "),
                     cards);
}

}  // namespace

std::string price_words(const PlanScreen& screen) {
  if (screen.prices == nullptr || screen.has_own_prices) return {};
  std::string newest;
  for (const Price& each : screen.prices->prices) newest = std::max(newest, each.date);
  std::string text =
      fmt::format("Prices: shipped rents in {}, read on {}. They age: --prices FILE takes yours.",
                  screen.prices->currency, newest);
  const Candidate& best = screen.candidates.front();
  if (const Price* row = rent_row(*screen.prices, *best.machine))
    text += fmt::format(" Rent of {}: {}.", row->name, row->source) + offered_words(*row, best);
  return text;
}

std::string plan_screen(const PlanScreen& screen) {
  const Candidate& best = screen.candidates.front();
  std::string head = paragraph(plan_title(screen)) + paragraph(plan_headline(screen)) + '\n';
  std::string tail;
  if (best.qualifies()) tail += '\n' + serving_lines(screen, best);
  if (!screen.strict_answer.empty())
    tail += paragraph("Attention: with --strict the answer is " + screen.strict_answer + '.');
  tail += more_words(screen) + offloaded_words(screen);
  if (best.qualifies()) tail += weights_words(screen);
  tail += left_out_words(screen) + plan_assumptions(screen);
  const std::string next = paragraph(
      screen.candidates.size() == 1
          ? std::string("Next: --details for every figure.")
          : fmt::format("Next: --details for every figure, --format csv for all {} candidates.",
                        grouped(static_cast<Size>(screen.candidates.size()))));
  std::string text;
  for (std::size_t most = best.qualifies() ? std::min(screen.rows, most_rows) : 0;; --most) {
    // One row alone has what the headline says.
    text = head + (most > 0           ? plan_comparison(screen, most) + tail
                   : best.qualifies() ? tail.substr(1)
                                      : tail);
    text += footnote_of(text) + next;
    if (most == 0 || std::ranges::count(text, '\n') <= screen_lines) return text;
  }
}

}  // namespace headroom::sweep
