#include "model/infer/placement/high_end.hpp"

#include "model/infer/placement/setup.hpp"

namespace headroom::model {

bool holds_at_high_end(const Uses& uses, const Plan& plan) {
  const Scenario& s = uses.scenario();
  for (Size card = plan.first_used_card; card < plan.cards; ++card) {
    const CardUse use = uses.card(plan, card);
    if (bytes_at(use.total(), use.uncertain(), s.runtime->memory.interval.high) >
        uses.setup().budget(s, card))
      return false;
  }
  return true;
}

}  // namespace headroom::model
