#include "model/infer/placement/outside_share.hpp"

#include <algorithm>
#include <cmath>

#include "model/infer/memory/start_pass.hpp"
#include "model/infer/memory/static_share.hpp"

namespace headroom::model {
namespace {

double needed_beside(const Scenario& s, Size shards, double factor) {
  const MemoryPolicy& policy = s.runtime->memory;
  const auto end = [factor](const Constant& c) {
    return factor > 1 ? c.high : factor < 1 ? c.low : c.value;
  };
  double needed = s.enforce_eager ? policy.outside_bytes.low : end(policy.outside_bytes);
  if (shards > 1) needed += end(policy.outside_links_bytes);
  if (s.machine->has_unified_memory() && !has_static_pool(s))
    needed += end(policy.host_of_unified_bytes);
  return needed;
}

bool captures_beside(const Scenario& s) {
  return has_start_pass(s) && !s.enforce_eager && s.runtime->memory.graph_bytes.value == 0;
}

}  // namespace

Bytes missing_beside(const Scenario& s, const Plan& plan, Limits of, Bytes activations,
                     double factor) {
  if (s.gpu_budget != unlimited) return Bytes(0) - unlimited;
  const double needed = needed_beside(s, plan.shards, factor);
  const Bytes freed = factor < 1 && captures_beside(s) ? activations : Bytes(0);
  return Bytes(static_cast<Size>(needed)) - (of.memory - of.budget) - freed;
}

Bytes largest_share(const Scenario& s, Bytes memory, double factor) {
  const Size shards = s.machine->devices.size() > 1 ? 2 : 1;
  return std::max(Bytes(0), memory - Bytes(static_cast<Size>(needed_beside(s, shards, factor))));
}

double share_that_starts(const Scenario& s, const Plan& plan) {
  constexpr double steps = 100;
  double least = 1;
  for (std::size_t card = 0; card < static_cast<std::size_t>(plan.cards); ++card) {
    const double memory = real_count(usable_memory(s.machine->devices[card]));
    const double share = 1 - needed_beside(s, plan.shards, surely) / memory;
    if (missing_beside(s, plan, {card_budget(s, card), usable_memory(s.machine->devices[card])},
                       Bytes(0), surely) > Bytes(0))
      least = std::min(least, std::floor(steps * share) / steps);
  }
  return least < 1 ? least : 0;
}

}  // namespace headroom::model
