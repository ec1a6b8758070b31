#include "model/infer/placement/high_end.hpp"

#include "model/infer/placement/setup.hpp"

namespace headroom::model {

bool holds_at_high_end(const Uses& uses, const Plan& plan) {
  const double high = uses.scenario().runtime->memory.interval.high;
  for (Size card = plan.first_used_card; card < plan.cards; ++card)
    if (over_budget(uses, plan, card, high) > Bytes(0)) return false;
  return true;
}

}  // namespace headroom::model
