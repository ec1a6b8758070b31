// A plan as a table and in words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "sweep/confidence_words.hpp"
#include "sweep/money.hpp"
#include "sweep/output.hpp"
#include "sweep/plan.hpp"

namespace headroom::sweep {
namespace {

using model::Target;
using report::Value;

/// Free on the most loaded card of a copy, within what the process may use.
Bytes room(const Candidate& c) {
  if (c.machine->devices.empty()) return {};
  const Bytes card = c.machine->devices.front().memory;
  return card > c.serving.estimate.gpu_bytes ? card - c.serving.estimate.gpu_bytes : Bytes(0);
}

double requests_s(const Candidate& c) {
  return static_cast<double>(c.serving.replicas) * c.serving.service.requests_s;
}
double tokens_s(const Candidate& c) {
  return requests_s(c) * static_cast<double>(c.scenario.output_tokens);
}

std::vector<Value> row(const Candidate& c, Size rank) {
  const model::Estimate& e = c.serving.estimate;
  std::vector<Value> cells{rank,
                           c.weights->model->name,
                           std::string(c.weights->scheme->name),
                           c.machine->name,
                           c.weights->model->profile.parameters,
                           c.weights->total.count()};
  const auto add = [&](Value value) {
    cells.push_back(c.qualifies() ? std::move(value) : Value());
  };
  add(c.serving.cards);
  add(c.serving.replicas);
  add(c.serving.batch);
  add(c.serving.context);
  add(c.serving.replicas * c.serving.batch);
  add(std::string(model::name_of(e.verdict)));
  add(std::string(model::name_of(e.sure)));
  add(c.serving.service.ttft.value());
  add(c.serving.service.tpot.value());
  add(tokens_s(c));
  add(requests_s(c));
  const auto asked = [&](Value value) { add(c.asked > 0 ? std::move(value) : Value()); };
  asked(c.asked);
  asked(c.at_asked.ttft.value());
  asked(c.at_asked.tpot.value());
  add(e.gpu_bytes.count());
  add(room(c).count());
  cells.push_back(std::string(model::name_of(c.serving.next.miss)));
  cells.push_back(c.serving.next.times);
  add(c.machines);
  add(c.machines + 1);
  cells.push_back(c.acquisition ? Value(std::string(model::name_of(*c.acquisition))) : Value());
  add(report::optional_value(c.purchase));
  add(report::optional_value(c.per_hour));
  add(c.tokens ? Value(c.tokens->input_per_million) : Value());
  add(c.tokens ? Value(c.tokens->output_per_million) : Value());
  add(report::optional_value(c.tokens_per_joule));
  return cells;
}

std::string combination(const Candidate& c) {
  std::string text = fmt::format("{} in {} on {}", c.weights->model->name, c.weights->scheme->name,
                                 c.machine->name);
  if (c.acquisition) text += fmt::format(" ({})", model::name_of(*c.acquisition));
  return text;
}

std::string rate_words(double rate, const model::Interval& time, const Target& target) {
  const auto number = [](double value) {
    return value < 1000 ? fmt::format("{:.3g}", value) : grouped(std::llround(value));
  };
  return target.strict ? fmt::format("{} (low end {})", number(rate), number(rate / time.high))
                       : number(rate);
}

std::string served(const Candidate& c, const Target& target) {
  const model::Estimate& e = c.serving.estimate;
  const model::Service& seen = c.serving.service;
  std::string text = fmt::format("{} {} of {} {}, {} sequences each, context {}",
                                 c.serving.replicas, c.serving.replicas == 1 ? "copy" : "copies",
                                 c.serving.cards, c.serving.cards == 1 ? "card" : "cards",
                                 grouped(c.serving.batch), grouped(c.serving.context));
  text += fmt::format(
      "; first token {}, per token {}, {} tokens/s, {} requests/s; {} ({})",
      time_words(seen.ttft, seen.first, target), time_words(seen.tpot, seen.step, target),
      rate_words(tokens_s(c), seen.time, target), rate_words(requests_s(c), seen.time, target),
      model::name_of(e.verdict), confidence_words(e.sure));
  return text;
}

/// Latency at the demand, if the answer could serve more.
std::string demand_words(const Candidate& c, const Target& target) {
  if (c.asked == 0) return {};
  const model::Service& seen = c.at_asked;
  return fmt::format("{} sequences each; first token {}, per token {}, {} tokens/s each",
                     grouped(c.asked), time_words(seen.ttft, seen.first, target),
                     time_words(seen.tpot, seen.step, target),
                     rate_words(1 / seen.tpot.value(), seen.step, target));
}

std::string costs(const Candidate& c, std::string_view currency) {
  if (!c.per_hour) return {};
  std::string text = money(*c.per_hour, currency) + " an hour";
  if (c.purchase) text += fmt::format(", {} to buy", money(*c.purchase, currency));
  if (c.tokens)
    text += fmt::format("; a million tokens: {:.4g} in, {:.4g} out", c.tokens->input_per_million,
                        c.tokens->output_per_million);
  return text;
}

/// The limit that one more would exceed, in words.
std::string_view missed(model::Miss miss) {
  switch (miss) {
    case model::Miss::memory:
      return "memory";
    case model::Miss::not_sure:
      return "memory";
    case model::Miss::offload:
      return "the cards' memory";
    case model::Miss::ttft:
      return "the time to first token";
    case model::Miss::tpot:
      return "the time per output token";
    case model::Miss::positions:
      return "the model's positions";
    case model::Miss::demand:
      return "the demand";
    case model::Miss::refused:
      return "the runtime";
    case model::Miss::nothing:
      break;
  }
  return "nothing";
}

}  // namespace

std::string time_words(Seconds time, const model::Interval& interval, const Target& target) {
  std::string text = duration(time.value());
  if (target.strict) text += fmt::format(" (high end {})", duration(time.value() * interval.high));
  return text;
}

std::string words_of(const model::Shortfall& next) {
  if (next.miss == model::Miss::refused) return "the runtime: it does not run this combination";
  if (next.miss == model::Miss::demand && next.times <= 1) return "nothing that was asked for";
  if (next.miss == model::Miss::demand)
    return fmt::format("the demand: it needs {:.0f} such machines", next.times);
  if (next.miss == model::Miss::not_sure)
    return "memory: it fits, but not at the high end of its interval";
  if (next.times < 1.01) return fmt::format("{}: it is used up", missed(next.miss));
  return fmt::format("{}: {:.3g} times what is allowed", missed(next.miss), next.times);
}

report::Table plan_table(std::span<const Candidate> candidates, std::size_t most) {
  report::Table table{{"rank",
                       "model",
                       "precision",
                       "machine",
                       "parameters",
                       "weights_bytes",
                       "cards",
                       "copies",
                       "batch",
                       "context",
                       "users",
                       "verdict",
                       "sure",
                       "ttft_s",
                       "tpot_s",
                       "tokens_s",
                       "requests_s",
                       "asked_batch",
                       "asked_ttft_s",
                       "asked_tpot_s",
                       "gpu_bytes",
                       "room_bytes",
                       "binds",
                       "binds_times",
                       "machines",
                       "machines_spare",
                       "acquisition",
                       "purchase",
                       "cost_per_hour",
                       "cost_per_million_in",
                       "cost_per_million_out",
                       "tokens_per_joule"},
                      {}};
  for (std::size_t i = 0; i < std::min(most, candidates.size()); ++i)
    table.rows.push_back(row(candidates[i], static_cast<Size>(i) + 1));
  return table;
}

std::string plan_words(const Question& question, std::span<const Candidate> candidates,
                       const model::Target& target, std::string_view currency) {
  const Candidate& best = candidates.front();
  if (!best.qualifies())
    return fmt::format("Answer      no combination qualifies ({} tried)\nClosest     {}: {}\n",
                       candidates.size(), combination(best), words_of(best.serving.next));
  std::string text = fmt::format("Question    {}\n", question.meaning);
  const auto line = [&](std::string_view name, const std::string& what) {
    if (!what.empty()) text += fmt::format("{:<11} {}\n", name, what);
  };
  line("Answer", combination(best));
  line("Serves", served(best, target));
  line("At demand", demand_words(best, target));
  line("Costs", costs(best, currency));
  const auto qualifying = std::ranges::count_if(candidates, &Candidate::qualifies);
  line("Runner-up", qualifying > 1
                        ? combination(candidates[1]) + ": " + served(candidates[1], target)
                        : std::string("none: nothing else qualifies"));
  if (qualifying > 1) line("", costs(candidates[1], currency));
  line("Binds", words_of(best.serving.next));
  std::string left = fmt::format("{} free on the most loaded card", to_text(room(best)));
  if (target.users > 0)
    left += fmt::format(
        "; {} users beyond those asked for",
        grouped(best.machines * best.serving.replicas * best.serving.batch - target.users));
  line("Room", left);
  line("Machines", fmt::format("{}; {} with one to spare", best.machines, best.machines + 1));
  return text;
}

}  // namespace headroom::sweep
