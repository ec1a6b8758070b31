#include "sweep/plan.hpp"

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
#include "model/infer/scenario/usual_context.hpp"
#include "sweep/demand_words.hpp"

namespace headroom::sweep {
namespace {

using model::Acquisition;
using model::Target;
using model::Vary;

Size parameters(const Candidate& c) { return c.weights->model->profile.parameters; }
double bytes_per_parameter(const Candidate& c) {
  return c.weights->total.real().value() / static_cast<double>(parameters(c));
}
Size cards(const Candidate& c) { return static_cast<Size>(c.machine->devices.size()); }
double hourly(const Candidate& c) {
  return c.per_hour.value_or(std::numeric_limits<double>::infinity());
}

constexpr Question all_questions[] = {
    {.name = "largest-model",
     .meaning = "the model with the most parameters that a machine runs",
     .headline = "Largest model",
     .one_machine = true,
     .has_usual_context = true,
     .better =
         [](const Candidate& a, const Candidate& b) {
           return std::tuple(parameters(a), a.weights->total, a.serving.users()) >
                  std::tuple(parameters(b), b.weights->total, b.serving.users());
         }},
    {.name = "largest-batch",
     .meaning = "the most sequences of one copy",
     .headline = "Largest batch",
     .one_model = true,
     .one_machine = true,
     .maximises_sequences = true,
     .better = [](const Candidate& a,
                  const Candidate& b) { return a.serving.batch > b.serving.batch; }},
    {.name = "longest-context",
     .meaning = "the longest context at the given batch",
     .headline = "Longest context",
     .vary = Vary::context,
     .one_model = true,
     .one_machine = true,
     .better = [](const Candidate& a,
                  const Candidate& b) { return a.serving.context > b.serving.context; }},
    {.name = "most-users",
     .meaning = "the most concurrent sequences, summed over all copies on a machine",
     .headline = "Most users",
     .one_model = true,
     .one_machine = true,
     .maximises_sequences = true,
     .better = [](const Candidate& a,
                  const Candidate& b) { return a.serving.users() > b.serving.users(); }},
    {.name = "fewest-gpus",
     .meaning = "the smallest number of cards",
     .headline = "Fewest GPUs",
     .one_model = true,
     .one_machine = true,
     .spares = true,
     .has_usual_context = true,
     .better =
         [](const Candidate& a, const Candidate& b) {
           return std::tuple(cards(a), -a.serving.users()) <
                  std::tuple(cards(b), -b.serving.users());
         }},
    {.name = "cheapest-machine",
     .meaning = "the lowest cost per hour, for as many machines as the demand needs",
     .headline = "Cheapest machine",
     .one_model = true,
     .priced = true,
     .spares = true,
     .has_usual_context = true,
     .better =
         [](const Candidate& a, const Candidate& b) {
           return std::tuple(hourly(a), -fleet_tokens_s(a)) <
                  std::tuple(hourly(b), -fleet_tokens_s(b));
         }},
    {.name = "best-precision",
     .meaning = "the widest weights that run on the cards, as `estimate` orders them",
     .headline = "Best precision",
     .one_model = true,
     .one_machine = true,
     .ranks_precisions = true,
     .has_usual_context = true,
     .better = [](const Candidate& a, const Candidate& b) { return a.place < b.place; }},
};

/// Requests a second that the machines are paid for: the demand, or all that they can serve.
double paid_requests(const Candidate& c) {
  if (c.demand.requests > 0) return c.demand.requests_s;
  const auto copies = static_cast<double>((c.machines - c.spares) * c.serving.replicas);
  return copies * model::capacity(c.scenario, c.serving);
}

void add_costs(Candidate& c, const Prices& prices) {
  const auto hour = model::hourly_cost(prices, *c.machine, *c.acquisition);
  const auto machines = static_cast<double>(c.machines);
  if (const auto one = model::purchase(prices, *c.machine, *c.acquisition))
    c.purchase = machines * *one;
  if (const auto watts = model::power_w(*c.machine))
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
  if (!limited && !question.maximises_sequences)
    target.most_sequences = std::max<Size>(1, target.users);
  return target;
}

model::Serving serving_of(const Question& question, const model::Scenario& s,
                          const Target& target) {
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

Candidate candidate(const Question& question, const Choices& choices, Candidate c,
                    const model::Scenario& request, const Target& target) {
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
  c.spares = choices.spares;
  c.machines += c.spares;
  c.demand =
      model::at_demand(c.scenario, c.serving, target, (c.machines - c.spares) * c.serving.replicas);
  if (choices.prices != nullptr) add_costs(c, *choices.prices);
  if (question.priced && !c.per_hour) c.machines = 0;
  return c;
}

model::Fidelity fidelity_of(const Candidate& c) {
  return model::fidelity(8 * bytes_per_parameter(c));
}

/// True if `a` answers better than the preferred `b`, and its weights lose no more. A question
/// about how little it takes accepts whatever loses little.
bool serves_better(const Question& question, const Candidate& a, const Candidate& b) {
  const model::Fidelity least =
      question.spares ? std::max(fidelity_of(b), model::Fidelity::four_bits) : fidelity_of(b);
  return fidelity_of(a) <= least && question.better(a, b);
}

}  // namespace

bool has_load(const Target& target) {
  return target.users > 1 || target.requests_s > 0 || target.output_tokens_s > 0;
}

bool weighs_ways(const Question& question, const Target& target) {
  return has_load(target) || (question.vary == Vary::batch && !question.has_usual_context);
}

std::span<const Question> questions() { return all_questions; }

const Question& question(std::string_view name) {
  std::vector<std::string> known;
  for (const Question& each : all_questions) {
    if (each.name == name) return each;
    known.emplace_back(each.name);
  }
  if (name.find('/') != std::string_view::npos)
    throw UnknownName(fmt::format(
        "'{}' is no question; the question comes before the model: headroom plan largest-batch {} "
        "--machine MACHINE",
        name, name));
  throw unknown_name("question", name, known);
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
    const Candidate empty = all[i];
    for (const Combination& combination : *lists[i]) {
      Candidate tried = empty;
      static_cast<Combination&>(tried) = combination;
      tried = candidate(question, choices, tried, request, target);
      const bool first = !all[i].qualifies();
      if (&combination == lists[i]->data() ||
          (tried.qualifies() && (first || serves_better(question, tried, all[i]))))
        all[i] = tried;
      if (all[i].qualifies() && !weighs_ways(question, target)) break;
    }
  });
  std::ranges::stable_sort(all, [&](const Candidate& a, const Candidate& b) {
    if (a.qualifies() != b.qualifies()) return a.qualifies();
    return a.qualifies() ? question.better(a, b) : a.serving.next.times < b.serving.next.times;
  });
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
