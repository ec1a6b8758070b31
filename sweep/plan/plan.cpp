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
#include "model/answer/narrow_formats.hpp"
#include "model/answer/way_order.hpp"
#include "model/infer/demand.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/scenario/usual_context.hpp"
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

/// The division of the machine that takes the fewest machines for the demand; of those the one
/// whose requests end first.
model::Serving quickest_division(const model::Scenario& s, const Target& target) {
  const auto divisions = model::every_division(s, target, Vary::batch);
  const model::Serving* best = nullptr;
  std::pair<Size, double> least;
  for (const model::Serving& each : divisions) {
    const Size machines = model::machines_needed(each, s, target);
    if (machines == 0 || (best != nullptr && machines > least.first)) continue;
    const auto at = model::at_demand(s, each, target, machines * each.replicas);
    const std::pair taken(machines, at.service.total.value());
    if (best != nullptr && taken >= least) continue;
    best = &each;
    least = taken;
  }
  return best != nullptr ? *best : model::best_division(divisions, Vary::batch);
}

/// A copy with weights outside the cards takes no more sequences than are asked for. Each further
/// one makes all of them slower. A limit on times says how many it may take.
Target offloaded(const Question& question, Target target) {
  const bool limited = target.ttft || target.tpot || target.late.any();
  if (!limited && question.sequences == nullptr)
    target.most_sequences = std::max<Size>(1, target.users);
  return target;
}

model::Serving serving_of(const Question& question, const model::Scenario& s, Target target) {
  if (question.asks_for_one && !has_load(target)) {
    target.users = target.most_sequences = 1;
    return quickest_division(s, target);
  }
  return question.spares && has_load(target) ? quickest_division(s, target)
                                             : model::serve(s, target, question.vary);
}

/// Weights leave the cards only where the demand is not met otherwise.
model::Serving served(const Question& question, const model::Scenario& s, const Target& target) {
  if (!target.offload) return serving_of(question, s, target);
  if (!s.machine->devices.empty()) {
    Target on_cards = target;
    on_cards.offload = false;
    auto serving = serving_of(question, s, on_cards);
    if (model::machines_needed(serving, s, target) > 0) return serving;
  }
  return serving_of(question, s, offloaded(question, target));
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

void add_memory(Candidate& c) {
  const model::MachineShare share =
      model::share_of(*c.machine, c.serving.cards, c.serving.replicas);
  const model::Scenario copy = model::on(c.scenario, share);
  c.tight = is_tight(copy, c.serving.estimate);
  c.room = least_room(copy);
}

Candidate candidate(const Question& question, const Choices& choices, Candidate c,
                    const model::Scenario& request, Target target) {
  if (rents_unknown_host(choices, c)) target.offload = false;
  c.scenario = request;
  c.scenario.weights = c.weights;
  c.scenario.machine = c.machine;
  c.scenario.runtime = c.engine;
  if (question.has_usual_context && choices.has_usual_context && !has_load(target))
    c.scenario.context = model::usual_context(c.scenario, *c.weights->model);
  c.serving = served(question, c.scenario, target);
  c.machines = model::machines_needed(c.serving, c.scenario, target);
  if (c.machines + choices.spares > 1 && question.one_machine) {
    c.serving.next = {model::Miss::demand, static_cast<double>(c.machines + choices.spares)};
    c.machines = 0;
  }
  if (c.machines == 0) return c;
  c.scenario.batch = c.serving.batch;
  if (question.vary == Vary::context) {
    c.scenario.context = c.serving.context;
    c.scenario.prompt_tokens = std::max<Size>(1, c.serving.context - request.output_tokens);
  }
  add_memory(c);
  c.decodes = question.vary == Vary::context || c.serving.batch == 1;
  c.spares = choices.spares;
  c.machines += c.spares;
  c.demand = model::at_demand(c.scenario, c.serving, target, serving_copies(c));
  if (choices.prices != nullptr) add_costs(c, *choices.prices);
  if (question.priced && !c.per_hour) c.machines = 0;
  return c;
}

/// Weights of 16 and of 8 bits lose next to nothing: they count alike.
model::Fidelity fidelity_of(const Candidate& c) {
  if (model::is_below_four_bits(*c.weights->scheme)) return model::Fidelity::less;
  return std::clamp(model::fidelity(model::bits_per_parameter(*c.weights)),
                    model::Fidelity::eight_bits, model::Fidelity::four_bits);
}

/// True if `a` answers better than the preferred `b`, and its weights lose no more. A question
/// about how little it takes accepts whatever loses little.
bool serves_better(const Question& question, const Candidate& a, const Candidate& b) {
  const model::Fidelity least =
      question.spares ? std::max(fidelity_of(b), model::Fidelity::four_bits) : fidelity_of(b);
  return fidelity_of(a) <= least && question.better(a, b);
}

auto most_sequences(const Question& question, std::vector<Candidate>& all) {
  const auto sequences = [&](const Candidate& each) {
    return each.qualifies() ? question.sequences(each) : 0;
  };
  return model::fastest_of_most(all, sequences, tokens_s);
}

/// The best of `tried`, ways to run a model on a machine in order of preference. With weights that
/// lose no more than those of the first, it is the one that answers best.
Candidate best_of(const Question& question, std::vector<Candidate> tried) {
  Candidate best = tried.front();
  for (Candidate& each : tried)
    if (each.qualifies() && (!best.qualifies() || serves_better(question, each, best))) best = each;
  if (question.sequences == nullptr || !best.qualifies()) return best;
  std::erase_if(tried, [&](const Candidate& each) {
    return !each.qualifies() || fidelity_of(each) > fidelity_of(best);
  });
  return *most_sequences(question, tried);
}

}  // namespace

bool has_load(const Target& target) {
  return target.users > 1 || target.requests_s > 0 || target.output_tokens_s > 0;
}

bool weighs_ways(const Question& question, const Target& target) {
  return has_load(target) || (question.vary == Vary::batch && !question.has_usual_context);
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
      tried.push_back(candidate(question, choices, each, request, target));
      if (tried.back().qualifies() && !weighs_ways(question, target)) break;
    }
    all[i] = best_of(question, std::move(tried));
  });
  std::ranges::stable_sort(all, [&](const Candidate& a, const Candidate& b) {
    if (a.qualifies() != b.qualifies()) return a.qualifies();
    return a.qualifies() ? question.better(a, b) : model::is_closer(a.serving.next, b.serving.next);
  });
  if (question.sequences != nullptr && !all.empty())
    if (const auto best = most_sequences(question, all); best->qualifies())
      std::rotate(all.begin(), best, best + 1);
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
