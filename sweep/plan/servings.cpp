#include "sweep/plan/servings.hpp"

#include <algorithm>
#include <utility>

#include "model/infer/demand.hpp"

namespace headroom::sweep {
namespace {

using model::Serving;
using model::Target;

/// The division of the machine that takes the fewest machines for the demand; of those the one
/// whose requests end first.
Serving quickest_division(const model::Scenario& s, const Target& target) {
  const auto divisions = model::every_division(s, target, model::Vary::batch);
  const Serving* best = nullptr;
  std::pair<Size, double> least;
  for (const Serving& each : divisions) {
    const Size machines = model::machines_needed(each, s, target);
    if (machines == 0 || (best != nullptr && machines > least.first)) continue;
    const auto at = model::at_demand(s, each, target, machines * each.replicas);
    const std::pair taken(machines, at.service.total.value());
    if (best != nullptr && taken >= least) continue;
    best = &each;
    least = taken;
  }
  return best != nullptr ? *best : model::best_division(divisions, model::Vary::batch);
}

/// As many sequences as are asked for, in the division where they end first.
Serving as_many_as_asked(const model::Scenario& s, Target target) {
  target.users = target.most_sequences = std::max(s.batch, target.users);
  target.attention_replicas = false;  // `estimate` does not take them for as many
  const Serving found = quickest_division(s, target);
  if (found.replicas == 0) return found;
  const Size copies = std::min(found.replicas, target.users);
  target.most_sequences = divided_up(target.users, copies);
  if (target.most_sequences >= found.batch && copies == found.replicas) return found;
  const auto share = model::share_of(*s.machine, found.cards, copies);
  return model::serve_on(s, share, target, model::Vary::batch, true);
}

/// A copy with weights outside the cards takes no more sequences than are asked for. Each further
/// one makes all of them slower. A limit on times says how many it may take.
Target offloaded(const Question& question, Target target) {
  const bool limited = target.ttft || target.tpot || target.late.any();
  if (!limited && question.sequences == nullptr)
    target.most_sequences = std::max<Size>(1, target.users);
  return target;
}

std::vector<Serving> found_for(const Question& question, const model::Scenario& s,
                               const Target& target) {
  if (question.sequences != nullptr) return model::every_division(s, target, question.vary);
  if (question.serves_asked && (!has_load(target) || question.ranks_precisions) &&
      !target.at_random())
    return {as_many_as_asked(s, target)};
  return {question.spares && has_load(target) ? quickest_division(s, target)
                                              : model::serve(s, target, question.vary)};
}

}  // namespace

std::vector<Serving> servings_of(const Question& question, const model::Scenario& s,
                                 const Target& target) {
  if (!target.offload) return found_for(question, s, target);
  if (!s.machine->devices.empty()) {
    Target on_cards = target;
    on_cards.offload = false;
    auto servings = found_for(question, s, on_cards);
    if (std::ranges::any_of(servings, [&](const Serving& each) {
          return model::machines_needed(each, s, target) > 0;
        }))
      return servings;
  }
  return found_for(question, s, offloaded(question, target));
}

}  // namespace headroom::sweep
