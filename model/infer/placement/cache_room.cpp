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

/// The caches of one sequence of `context` tokens on `card`.
Bytes of_one(Scenario s, const Plan& plan, Size card, Size context) {
  s.batch = 1;
  s.context = context;
  return caches_on_card(s, plan, CacheBytes(s, reserved_tokens(s), plan.shards), card) +
         draft_on_card(s, plan.shards, card == plan.first_used_card).kv_cache;
}

/// Recurrent states of one sequence on `card`.
Bytes states_of_one(Scenario s, const Plan& plan, Size card) {
  s.batch = 1;
  return caches_on_card(s, plan, CacheBytes(s, CachedTokens(), plan.shards), card);
}

struct CacheBlock {
  Size tokens = 0;
  Bytes bytes;  ///< its size in every layer on the card
};
CacheBlock block_on(const Scenario& s, const Plan& plan, Size card) {
  const Size pages = state_pages(s, plan.shards).block_tokens;
  const Size tokens = CacheRules(s, plan.shards).block_tokens();
  // Pages of states do not grow: only what the second block adds is one. Nor do states in a pool of
  // their own.
  const Bytes first = of_one(s, plan, card, tokens);
  const bool second = pages > 0 || has_state_pool(s);
  return {tokens, second ? of_one(s, plan, card, 2 * tokens) - first : first};
}

/// True if the engine refuses more sequences than it has pages of states.
bool states_limit(const Scenario& s, Size shards) {
  return s.runtime->cache.states_limit_sequences && !s.enforce_eager && has_start_pass(s) &&
         state_pages(s, shards).block_tokens > 0;
}

/// Memory of the caches on a card, and what the engine has besides them.
CacheRoom memory_on(const Scenario& s, const Plan& plan, const CardUse& use, std::size_t card) {
  // The allocator's share of the cache itself is the engine's to spend.
  const double other_bytes = static_cast<double>((use.weights + use.activations).count()) *
                             (1.0 + s.runtime->memory.fragmentation.value);
  const Bytes beside = use.context + Bytes(static_cast<Size>(std::ceil(other_bytes)));
  const Bytes memory = usable_memory(s.machine->devices[card]);
  CacheRoom room;
  room.available = card_budget(s, card) - beside;
  room.uncertain = uncertain_part(beside, beside - use.weights + use.host);
  if (has_static_pool(s)) {
    // The pool is taken before any work.
    const Bytes in_pool = pool_of_caches(s, plan, use, memory, 1.0);
    if (s.gpu_budget == unlimited || in_pool < room.available) {
      room.available = in_pool;
      room.uncertain = uncertain_part(use.weights + in_pool, use.context);
    }
  }
  room.left = memory - room.available - use.pooled_weights(*s.runtime) - use.context -
              use.overhead_weights - workspace(s, card);
  return room;
}

CacheRoom on_card(const Scenario& s, const Plan& plan, Size card) {
  const CardUse use = card_use(s, plan, card);
  CacheRoom room = memory_on(s, plan, use, static_cast<std::size_t>(card));
  room.one_sequence = of_one(s, plan, card, s.cached_tokens());
  const CacheBlock block = block_on(s, plan, card);
  room.block = block.tokens;
  if (room.available <= Bytes(0) || block.bytes <= Bytes(0)) return room;
  // If states have bytes of their own, the others are for what grows.
  const bool apart = use.state_slots > Bytes(0);
  const double ratio = s.runtime->memory.pool.state_ratio;
  const Bytes states = apart ? states_of_one(s, plan, card) : Bytes(0);
  const Bytes growing =
      apart ? Bytes(static_cast<Size>(real_count(room.available) / (1 + ratio))) : room.available;
  room.blocks = growing.count() / block.bytes.count();
  room.sequences = static_cast<double>(room.blocks * block.bytes.count()) /
                   static_cast<double>(std::max<Size>((room.one_sequence - states).count(), 1));
  room.tokens = static_cast<Size>(room.sequences * static_cast<double>(s.cached_tokens()));
  if (apart)
    room.sequences =
        std::min(room.sequences, real_count(room.available - growing) /
                                     real_count(use.state_slots) * static_cast<double>(s.batch));
  Size low = 0, high = Size{1} << 32;
  while (low < high) {
    const Size middle = (low + high + 1) / 2;
    if (of_one(s, plan, card, middle) - states <= growing)
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
