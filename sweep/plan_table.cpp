// A plan as a table and in words.
#include <fmt/format.h>

#include "hardware/quantity_text.hpp"
#include "sweep/money.hpp"
#include "sweep/output.hpp"
#include "sweep/plan.hpp"

namespace headroom::sweep {
namespace {

using report::Value;

Value optional(const std::optional<double>& value) { return value ? Value(*value) : Value(); }

/// Free on the most loaded card of a copy, within what the process may use.
Bytes room(const Candidate& c) {
  if (c.machine->devices.empty()) return {};
  const Bytes card = c.machine->devices.front().memory;
  return card > c.serving.estimate.gpu_bytes ? card - c.serving.estimate.gpu_bytes : Bytes(0);
}

double requests_s(const Candidate& c) {
  return model::requests_s(c.scenario, c.serving.estimate, c.serving.replicas);
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
  add(e.ttft.value());
  add(e.tpot.value());
  add(static_cast<double>(c.serving.replicas) * e.tokens_s);
  add(c.qualifies() ? requests_s(c) : 0);
  add(e.gpu_bytes.count());
  add(room(c).count());
  cells.push_back(std::string(model::name_of(c.serving.next.miss)));
  cells.push_back(c.serving.next.times);
  add(c.machines);
  add(c.machines + 1);
  cells.push_back(c.acquisition ? Value(std::string(model::name_of(*c.acquisition))) : Value());
  add(optional(c.purchase));
  add(optional(c.per_hour));
  add(c.tokens ? Value(c.tokens->input_per_million) : Value());
  add(c.tokens ? Value(c.tokens->output_per_million) : Value());
  add(optional(c.tokens_per_joule));
  return cells;
}

std::string combination(const Candidate& c) {
  std::string text = fmt::format("{} in {} on {}", c.weights->model->name, c.weights->scheme->name,
                                 c.machine->name);
  if (c.acquisition) text += fmt::format(" ({})", model::name_of(*c.acquisition));
  return text;
}

std::string served(const Candidate& c) {
  const model::Estimate& e = c.serving.estimate;
  std::string text = fmt::format("{} {} of {} {}, {} sequences each, context {}",
                                 c.serving.replicas, c.serving.replicas == 1 ? "copy" : "copies",
                                 c.serving.cards, c.serving.cards == 1 ? "card" : "cards",
                                 grouped(c.serving.batch), grouped(c.serving.context));
  text += fmt::format(
      "; first token {}, per token {}, {:.3g} tokens/s, {:.3g} requests/s; {} (sure: {})",
      duration(e.ttft.value()), duration(e.tpot.value()),
      static_cast<double>(c.serving.replicas) * e.tokens_s, requests_s(c),
      model::name_of(e.verdict), model::name_of(e.sure));
  return text;
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

/// What one more would miss, in words.
std::string_view missed(model::Miss miss) {
  switch (miss) {
    case model::Miss::memory:
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

/// "memory: 1.3 times what there is".
std::string binding(const model::Shortfall& next) {
  if (next.miss == model::Miss::refused) return "the runtime: it does not run this combination";
  if (next.miss == model::Miss::demand && next.times <= 1) return "nothing that was asked for";
  if (next.miss == model::Miss::demand)
    return fmt::format("the demand: it takes {:.0f} such machines", next.times);
  if (next.times < 1.01) return fmt::format("{}: it is used up", missed(next.miss));
  return fmt::format("{}: {:.3g} times what is allowed", missed(next.miss), next.times);
}

}  // namespace

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
                       candidates.size(), combination(best), binding(best.serving.next));
  std::string text = fmt::format("Question    {}\n", question.meaning);
  const auto line = [&](std::string_view name, const std::string& what) {
    if (!what.empty()) text += fmt::format("{:<11} {}\n", name, what);
  };
  line("Answer", combination(best));
  line("Serves", served(best));
  line("Costs", costs(best, currency));
  const auto qualifying = std::ranges::count_if(candidates, &Candidate::qualifies);
  line("Runner-up", qualifying > 1 ? combination(candidates[1]) + ": " + served(candidates[1])
                                   : std::string("none: nothing else qualifies"));
  if (qualifying > 1) line("", costs(candidates[1], currency));
  line("Binds", binding(best.serving.next));
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
