#include "model/infer/placement/high_end.hpp"

#include "model/infer/placement/setup.hpp"

namespace headroom::model {

bool holds_at_high_end(const Uses& uses, const Plan& plan) {
  const double high = uses.scenario().runtime->memory.interval.high;
  for (Size card = plan.first_used_card; card < plan.cards; ++card)
    if (over_budget(uses, plan, card, high) > Bytes(0)) return false;
  return true;
}

bool stays_on_cards_at_high_end(const Uses& uses, const Plan& plan) {
  const Scenario& s = uses.scenario();
  const double high = s.runtime->memory.interval.high;
  for (Size card = plan.first_used_card; card < plan.cards; ++card) {
    const CardUse& use = uses.card(plan, card);
    const Device& device = s.machine->devices[static_cast<std::size_t>(card)];
    if (bytes_at(use.total(), use.uncertain(), high) > usable_memory(device)) return false;
  }
  return true;
}

}  // namespace headroom::model
