#include "sweep/plan/plan.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "hardware/names.hpp"
#include "model/answer/way_order.hpp"
#include "model/infer/demand.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/scenario/usual_context.hpp"
#include "model/infer/service.hpp"
#include "sweep/plan/servings.hpp"
#include "sweep/screen/demand_words.hpp"
#include "sweep/ways.hpp"

namespace headroom::sweep {

bool rents_unknown_host(const Choices& choices, const Candidate& c) {
  return c.acquisition == model::Acquisition::rent &&
         headroom::rents_unknown_host(*choices.prices, *c.machine);
}

namespace {

using model::Acquisition;
using model::Target;
using model::Vary;

/// Requests a second that the machines are paid for: the demand, or all that they can serve.
double paid_requests(const Candidate& c) {
  if (c.demand.requests > 0) return c.demand.requests_s;
  const auto copies = static_cast<double>(serving_copies(c));
  return copies * model::capacity(c.scenario, c.serving);
}

void add_costs(Candidate& c, const Prices& prices) {
  const auto hour = model::hourly_cost(prices, *c.machine, *c.acquisition);
  const auto machines = static_cast<double>(c.machines);
  if (const auto one = model::purchase(prices, *c.machine, *c.acquisition))
    c.purchase = machines * *one;
  if (const auto watts = model::power_w(*c.machine, *c.acquisition))
    c.tokens_per_joule =
        model::tokens_per_joule(c.scenario, c.serving.service, c.serving.replicas, *watts);
  if (!hour) return;
  c.per_hour = machines * hour->total();
  c.tokens =
      model::token_cost(*c.per_hour, model::utilisation_of(prices), paid_requests(c), c.scenario);
}

/// The least that is free on a card that `s` uses, within what the process may use.
Bytes least_room(const model::Scenario& asked) {
  const model::Scenario s = model::admitted_scenario(asked);
  const model::Uses uses(s);
  const model::Plan plan = model::place(uses, 1.0);
  Bytes least = model::unlimited;
  for (Size card = plan.first_used_card; card < plan.cards; ++card)
    least = std::min(least, model::card_budget(s, static_cast<std::size_t>(card)) -
                                uses.card(plan, card).total());
  return least == model::unlimited ? Bytes(0) : std::max(least, Bytes(0));
}

void add_room_and_order(const Question& question, Candidate& c) {
  const model::MachineShare share = model::share_of(*c.machine, c.serving);
  const model::Scenario copy = model::on(c.scenario, share);
  c.room = least_room(copy);
  model::WayFacts facts = c.facts;
  if (!is_at_demand(question, c)) {
    c.tight = facts.tight = is_tight(copy, c.serving.estimate);
    if (c.serving.batch > 1) facts.served_tokens_s = tokens_s(c);
    c.order = model::way_place(c.serving.estimate, facts);
    return;
  }
  model::Scenario asked = copy;
  model::set_batch(asked, c.demand.requests);
  const model::Estimate e = model::evaluate(asked);
  c.tight = facts.tight = is_tight(asked, e);
  facts.one_batch = asked.batch > 1 && !model::batches_continuously(asked, e);
  if (asked.batch > 1) facts.served_tokens_s = demand_tokens_s(c);
  c.order = model::way_place(e, facts);
}

/// The scenario of a combination, before its batch or context is found.
model::Scenario scenario_of(const Question& question, const Choices& choices, const Combination& c,
                            const model::Scenario& request, const Target& target) {
  model::Scenario s = request;
  s.weights = c.weights;
  s.machine = c.machine;
  s.runtime = c.engine;
  s.gpu_budget = c.gpu_budget;
  if (question.has_usual_context && choices.has_usual_context && !has_load(target))
    s.context = model::usual_context(s, *c.weights->model);
  else if (question.vary == Vary::batch && choices.has_usual_context)
    s.least_context = model::least_usual_context(s, *c.weights->model);
  return s;
}

/// The candidate that serves `serving` by a combination.
Candidate completed(const Question& question, const Choices& choices, Candidate c,
                    const model::Serving& serving, const Target& target) {
  c.serving = serving;
  c.machines = model::machines_needed(c.serving, c.scenario, target);
  if (c.machines + choices.spares > 1 && question.one_machine) {
    c.serving.next = {model::Miss::demand, static_cast<double>(c.machines + choices.spares)};
    c.machines = 0;
  }
  if (c.machines == 0) return c;
  model::set_batch(c.scenario, c.serving.batch);
  if (question.vary == Vary::context) {
    c.scenario.context = c.serving.context;
    c.scenario.prompt_tokens = std::max<Size>(1, c.serving.context - c.scenario.output_tokens);
  }
  c.decodes = question.vary == Vary::context || c.serving.batch == 1;
  c.spares = choices.spares;
  c.machines += c.spares;
  c.demand = model::at_demand(c.scenario, c.serving, target, serving_copies(c));
  add_room_and_order(question, c);
  if (choices.prices != nullptr) add_costs(c, *choices.prices);
  if (question.priced && !c.per_hour) c.machines = 0;
  return c;
}

/// The ways to serve by one combination.
std::vector<Candidate> candidates_of(const Question& question, const Choices& choices, Candidate c,
                                     const model::Scenario& request, Target target) {
  if (rents_unknown_host(choices, c)) target.offload = false;
  c.scenario = scenario_of(question, choices, c, request, target);
  std::vector<Candidate> all;
  for (const model::Serving& each : servings_of(question, c.scenario, target))
    all.push_back(completed(question, choices, c, each, target));
  return all;
}

/// Bits that weights below 4 lack to 16; 0 where they lose no more than 4 bits do.
double lost_bits(const Candidate& c) { return c.loses_more ? 16 - c.facts.bits : 0; }

/// True if `a` answers better than `b`. Weights below 4 bits answer where no others do, the widest
/// first, unless precisions are what is compared.
bool answers_better(const Question& question, const Candidate& a, const Candidate& b) {
  if (a.qualifies() != b.qualifies()) return a.qualifies();
  if (!a.qualifies()) return model::is_closer(a.serving.next, b.serving.next);
  if (!question.ranks_precisions && lost_bits(a) != lost_bits(b))
    return lost_bits(a) < lost_bits(b);
  return question.better(a, b);
}

/// The one of `all` that serves many well, by model::fastest_of_most(). `all`: at least one.
std::vector<Candidate>::iterator most_sequences(const Question& question,
                                                std::vector<Candidate>& all) {
  const auto best = std::ranges::min_element(
      all, [&](const auto& a, const auto& b) { return answers_better(question, a, b); });
  if (!best->qualifies()) return best;
  const double lost = lost_bits(*best);
  const auto sequences = [&](const Candidate& each) {
    return each.qualifies() && lost_bits(each) == lost ? question.sequences(each) : 0;
  };
  return model::fastest_of_most(all, sequences, tokens_s,
                                [](const Candidate& each) { return -each.order.cost; });
}

/// Names the one of `all` that answers with more than `best` does. It is the widest where only
/// weights below 4 bits do. Money buys wider ones.
void name_more(const Question& question, Candidate& best, std::span<const Candidate> all) {
  if (!best.qualifies() || question.ranks_precisions || question.priced) return;
  const Candidate* more = best.more.get();
  const auto consider = [&](const Candidate& each) {
    const bool counts = each.qualifies() && question.better(each, best) &&
                        (question.sequences != nullptr || each.loses_more);
    if (counts && (more == nullptr || answers_better(question, each, *more))) more = &each;
  };
  for (const Candidate& each : all) {
    consider(each);
    if (each.more) consider(*each.more);
  }
  if (more == nullptr || more == best.more.get()) return;
  auto named = std::make_shared<Candidate>(*more);
  named->more.reset();
  best.more = std::move(named);
}

/// The best of `tried`, ways to run a model on a machine in order of preference.
Candidate best_of(const Question& question, std::vector<Candidate> tried) {
  const auto best = question.sequences != nullptr
                        ? most_sequences(question, tried)
                        : std::ranges::min_element(tried, [&](const auto& a, const auto& b) {
                            return answers_better(question, a, b);
                          });
  Candidate found = *best;
  name_more(question, found, tried);
  return found;
}

}  // namespace

bool is_at_demand(const Question& question, const Candidate& c) {
  return question.spares && c.demand.requests > 0;
}

bool has_load(const Target& target) {
  return target.users > 1 || target.requests_s > 0 || target.output_tokens_s > 0;
}

bool weighs_ways(const Question& question, const Target& target) {
  return has_load(target) || !question.has_usual_context;
}

std::vector<Candidate> ranked(const Question& question, const Choices& choices,
                              const model::Scenario& request, const Target& target) {
  std::vector<Candidate> all;
  std::vector<const std::vector<Combination>*> lists;
  const auto add = [&](const std::vector<Combination>& list, std::optional<Acquisition> way) {
    all.emplace_back().acquisition = way;
    lists.push_back(&list);
  };
  for (const auto& list : choices.combinations) {
    if (choices.prices == nullptr) add(list, std::nullopt);
    for (const Acquisition way : choices.acquisitions)
      if (choices.prices != nullptr &&
          model::hourly_cost(*choices.prices, *list.front().machine, way))
        add(list, way);
  }
  tbb::parallel_for(std::size_t{0}, all.size(), [&](std::size_t i) {
    std::vector<Candidate> tried;
    for (const Combination& combination : *lists[i]) {
      Candidate each = all[i];
      static_cast<Combination&>(each) = combination;
      for (Candidate& way : candidates_of(question, choices, each, request, target))
        tried.push_back(std::move(way));
      if (tried.back().qualifies() && !tried.back().loses_more && !weighs_ways(question, target))
        break;
    }
    all[i] = best_of(question, std::move(tried));
  });
  std::ranges::stable_sort(
      all, [&](const Candidate& a, const Candidate& b) { return answers_better(question, a, b); });
  if (all.empty()) return all;
  if (question.sequences != nullptr) {
    const auto best = most_sequences(question, all);
    std::rotate(all.begin(), best, best + 1);
  }
  name_more(question, all.front(), all);
  return all;
}

std::vector<std::string> left_out(const Choices& choices) {
  std::vector<std::string> lines;
  std::set<const Machine*> seen;
  for (const auto& list : choices.combinations) {
    const Machine& machine = *list.front().machine;
    if (choices.prices == nullptr || !seen.insert(&machine).second) continue;
    std::string line = missing_words(*choices.prices, machine, choices.acquisitions);
    if (line.empty()) continue;
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace headroom::sweep
