#include "model/infer/placement/setup.hpp"

#include <algorithm>

#include "model/infer/memory/driver_context.hpp"
#include "model/infer/placement/cache_room.hpp"
#include "model/infer/placement/outside_share.hpp"
#include "model/infer/placement/split.hpp"

namespace headroom::model {
namespace {

Plan division_of(const Scenario& s) {
  return s.runtime->parallel.split == Split::tensors ? divide_tensors(s) : Plan{};
}

/// True if the card before it is of one kind with it and has an equal part.
bool repeats(const Scenario& s, const Plan& plan, Size card) {
  if (card % plan.shards == 0 || plan.expert_groups > 1) return false;
  const Device *at = &s.machine->devices[static_cast<std::size_t>(card)], *before = at - 1;
  return at->compute_capability == before->compute_capability && at->link == before->link;
}

}  // namespace

Setup::Setup(const Scenario& s)
    : division_(division_of(s)),
      shards_(division_.cards > 0 ? division_.shards : std::max<Size>(1, s.tensor_parallel)),
      runs_on_cpu_(model::runs_on_cpu(s)),
      caches_(s, shards_),
      token_(s, shards_),
      taken_((1.0 + s.runtime->memory.fragmentation.value) * (1.0 + rest_share(s))) {
  for (std::size_t card = 0; card < s.machine->devices.size(); ++card) {
    const Bytes memory = usable_memory(s.machine->devices[card]);
    cards_.push_back({memory, own_budget(s, memory), largest_share(s, memory, 1.0),
                      driver_context(s, static_cast<Size>(card)), Workspace(s, card)});
    largest_own_ = std::max(largest_own_, cards_.back().own);
  }
  if (division_.cards > 0) divide_cards(s);
  if (s.runtime->parallel.split == Split::tensors) host_ = model::held_by_host(s, division_);
}

void Setup::divide_cards(const Scenario& s) {
  for (Size card = 0; card < division_.cards; ++card) {
    const Card& own = this->card(card);
    if (card % shards_ == 0) least_.push_back(own);
    Card& least = least_.back();
    least = {std::min(least.memory, own.memory), std::min(least.own, own.own),
             std::min(least.most, own.most), own.context, own.workspace};
    if (card == 0 || !repeats(s, division_, card)) {
      held_.push_back(held_on(s, division_, card));
      state_blocks_.push_back(model::state_block(s, division_, card));
      first_.push_back(card);
    }
    kind_.push_back(std::ssize(held_) - 1);
  }
}

}  // namespace headroom::model
