// A plan as a table, and what its parts are called.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "sweep/output.hpp"
#include "sweep/plan/plan.hpp"
#include "sweep/screen/demand_words.hpp"
#include "sweep/screen/money.hpp"

namespace headroom::sweep {
namespace {

using model::Target;
using report::Value;

std::vector<Value> row(const Candidate& c, Size rank) {
  const model::Estimate& e = c.serving.estimate;
  std::vector<Value> cells{rank,
                           c.weights->model->name,
                           std::string(c.weights->scheme->name),
                           std::string(c.engine->name),
                           c.machine->name,
                           c.weights->model->profile.parameters,
                           c.weights->total.count()};
  const auto add = [&](Value value) {
    cells.push_back(c.qualifies() ? std::move(value) : Value());
  };
  add(c.serving.cards_of_copy());
  add(c.serving.copies());
  add(c.serving.attention);
  add(c.serving.batch);
  add(c.serving.context);
  add(c.serving.replicas * c.serving.users_each);
  add(std::string(model::name_of(e.verdict)));
  add(std::string(model::name_of(e.sure)));
  add(c.serving.service.ttft.value());
  add(c.serving.service.tpot.value());
  add(tokens_s(c));
  add(requests_s(c));
  const auto asked = [&](Value value) { add(c.demand.requests > 0 ? std::move(value) : Value()); };
  asked(c.demand.requests);
  asked(c.demand.service.ttft.value());
  asked(c.demand.service.tpot.value());
  const auto slowest = [&](double model::InFlight::*of) {
    add(c.demand.slowest ? Value((*c.demand.slowest).*of) : Value());
  };
  const auto slowest_time = [&](Seconds model::InFlight::*of) {
    add(c.demand.slowest ? Value(((*c.demand.slowest).*of).value()) : Value());
  };
  slowest(&model::InFlight::load);
  slowest_time(&model::InFlight::ttft_p95);
  slowest_time(&model::InFlight::tpot_p95);
  slowest_time(&model::InFlight::total_p99);
  add(e.gpu_bytes.count());
  add(c.room.count());
  cells.push_back(std::string(model::name_of(c.serving.next.miss)));
  cells.push_back(c.serving.next.times);
  add(c.machines);
  add(c.machines + 1);
  cells.push_back(c.acquisition ? Value(std::string(model::name_of(*c.acquisition))) : Value());
  add(report::optional_value(c.purchase));
  add(report::optional_value(c.per_hour));
  add(c.tokens ? Value(c.tokens->input_per_million) : Value());
  add(c.tokens ? Value(c.tokens->output_per_million) : Value());
  add(c.tokens ? Value(c.tokens->request) : Value());
  add(report::optional_value(c.tokens_per_joule));
  const model::MeasuredTimes measured = measured_of(running_way(c));
  cells.push_back(Size{measured.here});
  cells.push_back(Size{measured.all});
  return cells;
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
    case model::Miss::ttft_p95:
      return "the time to first token at p95";
    case model::Miss::tpot_p95:
      return "the time per output token at p95";
    case model::Miss::total_p99:
      return "the time of a whole request at p99";
    case model::Miss::load:
      return "the load factor";
    case model::Miss::positions:
      return "the model's positions";
    case model::Miss::sequences:
      return "the engine's sequences";
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

double requests_s(const Candidate& c) {
  return static_cast<double>(c.serving.replicas) * c.serving.service.requests_s;
}
double tokens_s(const Candidate& c) {
  return c.decodes ? static_cast<double>(c.serving.replicas * c.serving.batch) /
                         c.serving.service.tpot.value()
                   : requests_s(c) * static_cast<double>(c.scenario.output_tokens);
}
double demand_tokens_s(const Candidate& c) {
  return c.demand.requests_s * static_cast<double>(c.scenario.output_tokens);
}

Size idle_cards(const Candidate& c) {
  return static_cast<Size>(c.machine->devices.size()) - c.serving.cards * c.serving.replicas;
}

std::string time_words(Seconds time, const model::Interval& interval, const Target& target) {
  std::string text = duration(time.value());
  if (target.strict) text += fmt::format(" (high end {})", duration(time.value() * interval.high));
  return text;
}

std::string words_of(const model::Shortfall& next) {
  if (next.miss == model::Miss::refused) return "the runtime: it does not run this combination";
  if (next.miss == model::Miss::sequences) return "the engine: it starts with no more sequences";
  if (next.miss == model::Miss::demand && next.times <= 1) return "nothing that was asked for";
  if (next.miss == model::Miss::demand)
    return fmt::format("the demand: it needs {:.0f} such machines", next.times);
  if (next.miss == model::Miss::not_sure)
    return "memory: it fits, but not at the high end of its interval";
  if (next.miss == model::Miss::load)
    return "the load factor: a copy is as busy as it may be (--load-factor)";
  if (next.times < 1.01) return fmt::format("{}: it is used up", missed(next.miss));
  return fmt::format("{}: {:.3g} times what is allowed", missed(next.miss), next.times);
}

report::Table plan_table(std::span<const Candidate> candidates, std::size_t most) {
  report::Table table{{"rank",
                       "model",
                       "precision",
                       "runtime",
                       "machine",
                       "parameters",
                       "weights_bytes",
                       "cards",
                       "copies",
                       "attention_replicas",
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
                       "asked_load",
                       "asked_ttft_p95_s",
                       "asked_tpot_p95_s",
                       "asked_e2e_p99_s",
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
                       "cost_per_request",
                       "tokens_per_joule",
                       "measured_here",
                       "measured"},
                      {}};
  for (std::size_t i = 0; i < std::min(most, candidates.size()); ++i)
    table.rows.push_back(row(candidates[i], static_cast<Size>(i) + 1));
  return table;
}

}  // namespace headroom::sweep
