#include "model/infer/placement/cache_room.hpp"

#include <algorithm>
#include <cmath>

#include "model/infer/memory/start_pass.hpp"
#include "model/infer/memory/state_pages.hpp"
#include "model/infer/memory/static_share.hpp"
#include "model/infer/placement/assignment.hpp"
#include "model/infer/placement/draft_memory.hpp"
#include "model/infer/placement/setup.hpp"

namespace headroom::model {
namespace {

/// The cache of one sequence of `context` tokens on `card`.
Bytes of_one(Scenario s, const Plan& plan, Size card, Size context) {
  s.batch = 1;
  s.context = context;
  return caches_on_card(s, plan, CacheBytes(s, reserved_tokens(s), plan.shards), card) +
         draft_on_card(s, plan.shards, card == plan.first_used_card).kv_cache;
}

struct CacheBlock {
  Size tokens = 0;
  Bytes bytes;  ///< its size in every layer on the card
};
CacheBlock block_on(const Scenario& s, const Plan& plan, Size card) {
  const Size pages = state_pages(s, plan.shards).block_tokens;
  const Size tokens = CacheRules(s, plan.shards).block_tokens();
  // Pages of states do not grow: only what the second block adds is one.
  const Bytes first = of_one(s, plan, card, tokens);
  return {tokens, pages > 0 ? of_one(s, plan, card, 2 * tokens) - first : first};
}

/// True if the engine refuses more sequences than it has pages of states.
bool states_limit(const Scenario& s, Size shards) {
  return s.runtime->cache.states_limit_sequences && !s.enforce_eager && has_start_pass(s) &&
         state_pages(s, shards).block_tokens > 0;
}

CacheRoom on_card(const Scenario& s, const Plan& plan, Size card) {
  const CardUse use = card_use(s, plan, card);
  // The allocator's share of the cache itself is the engine's to spend.
  const double other_bytes = static_cast<double>((use.weights + use.activations).count()) *
                             (1.0 + s.runtime->memory.fragmentation.value);
  const auto i = static_cast<std::size_t>(card);
  CacheRoom room;
  const Bytes beside = use.context + Bytes(static_cast<Size>(std::ceil(other_bytes)));
  room.available = card_budget(s, i) - beside;
  room.uncertain = uncertain_part(beside, beside - use.weights);
  if (has_static_pool(s))
    room.available =
        std::min(room.available,
                 use.kv_cache - over_pool(s, plan, use, usable_memory(s.machine->devices[i]), 1.0));
  room.one_sequence = of_one(s, plan, card, s.cached_tokens());
  const CacheBlock block = block_on(s, plan, card);
  room.block = block.tokens;
  if (room.available <= Bytes(0) || block.bytes <= Bytes(0)) return room;
  room.blocks = room.available.count() / block.bytes.count();
  room.sequences = static_cast<double>(room.blocks * block.bytes.count()) /
                   static_cast<double>(std::max<Size>(room.one_sequence.count(), 1));
  room.tokens = static_cast<Size>(room.sequences * static_cast<double>(s.cached_tokens()));
  Size low = 0, high = Size{1} << 32;
  while (low < high) {
    const Size middle = (low + high + 1) / 2;
    if (of_one(s, plan, card, middle) <= room.available)
      low = middle;
    else
      high = middle - 1;
  }
  room.longest = low;
  return room;
}

}  // namespace

std::optional<CacheRoom> cache_room(const Scenario& s, const Plan& plan) {
  if (!s.runtime->memory.sets_aside() || plan.cards == 0 || !s.kv_cache) return std::nullopt;
  std::optional<CacheRoom> least;
  for (Size card = plan.first_used_card; card < plan.cards; ++card) {
    const CacheRoom room = on_card(s, plan, card);
    // A recurrent state alone does not grow: there is no count of tokens to give.
    if (of_one(s, plan, card, 2 * room.block) <= of_one(s, plan, card, room.block)) continue;
    if (!least || room.sequences < least->sequences ||
        (room.sequences == least->sequences && room.available < least->available))
      least = room;
  }
  return least;
}

Bytes state_block(const Scenario& s, const Plan& plan, Size card) {
  return states_limit(s, plan.shards) ? block_on(s, plan, card).bytes : Bytes(0);
}

Bytes pages_of_states(const Uses& uses, Size card) {
  const Scenario& s = uses.scenario();
  const Bytes block = uses.setup().state_block(card);
  if (block == Bytes(0) || (s.max_sequences == 0 && !s.may_ask_for_fewer)) return Bytes(0);
  return start_sequences(s) * block;
}

}  // namespace headroom::model
