// Memory use of devices under a plan: weights, caches, activations and the engine's overhead.
#include <algorithm>

#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/memory/start_pass.hpp"
#include "model/infer/memory/static_share.hpp"
#include "model/infer/placement/assignment.hpp"
#include "model/infer/placement/draft_memory.hpp"
#include "model/infer/placement/held.hpp"
#include "model/infer/placement/setup.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/layer_split.hpp"

namespace headroom::model {
namespace {

/// Few scenarios have one.
DraftUse draft_of(const Scenario& s, Size shards, bool first) {
  return s.draft == nullptr ? DraftUse() : draft_on_card(s, shards, first);
}

}  // namespace

Uses::Uses(const Scenario& s) : Uses(s, std::make_shared<const Setup>(s)) {}

Uses::Uses(const Scenario& s, const Setup& setup) : Uses(s, setup, s.cached_tokens()) {}

Uses::Uses(const Scenario& s, const Setup& setup, Size context)
    : s_(s),
      setup_(setup),
      cache_(setup.caches(), s, reserved_tokens(s, context)),
      work_(s, setup.shards(), setup.token(), context),
      graphs_(graphs_in_share(s, setup.token().start)),
      number_(setup.plans().next_number()) {
  if (work_.grows())
    prompt_cache_.emplace(setup.caches(), s, prompt_tokens(s, reserved_tokens(s, context)));
  if (has_state_pool(s)) states_.emplace(setup.caches(), s, CachedTokens());
}

const Uses::Whole& Uses::whole() const {
  if (whole_) return *whole_;
  const Size layers = std::ssize(s_.weights->layer);
  Whole& made = whole_.emplace();
  made.caches = cache_(0, layers);
  const Bytes all = work_.grows() ? made.caches : Bytes(0);
  const Bytes prompts = prompt_cache_ ? (*prompt_cache_)(0, layers) : Bytes(0);
  made.working = work_(all, std::max(all, prompts));
  made.overhead = made.working + rotary_tables(s_, layers);
  return made;
}

Bytes Uses::workspace(Size card) const { return setup_.card(card).workspace.with(graphs_); }

Bytes Uses::limit(Size card, double factor) const {
  const Bytes work = setup_.card(card).context + whole().overhead + workspace(card);
  return limit_at(setup_.budget(s_, card), work, factor);
}

Bytes Uses::room(Size card, double factor) const {
  const Bytes left = limit(card, factor) - setup_.card(card).context;
  const DraftUse draft = draft_of(s_, 1, card == 0);
  return rounded_down(real_count(left) / setup_.taken()) - whole().overhead - workspace(card) -
         draft.weights - draft.kv_cache;
}

const CardUse& Uses::card(const Plan& plan, Size card) const {
  if (s_.runtime->parallel.split != Split::tensors) {
    if (!is_used(plan, card)) return other_ = {};
    const auto held = [&] { return held_on(s_, plan, card); };
    // Shares of rows depend on budgets.
    if (plan.assignment != nullptr || shares_rows(s_) || card >= plan.cards) {
      work_out(held(), plan, card, other_);
      return other_;
    }
    return asked(setup_.plans().card(plan, card, held), plan, card);
  }
  const Size kind = setup_.kind(card);
  while (std::ssize(kinds_) <= kind) {
    const Size next = std::ssize(kinds_);
    work_out(setup_.held(next), plan, setup_.first_of(next), kinds_.emplace_back());
  }
  return kinds_[static_cast<std::size_t>(kind)];
}

const CardUse& Uses::asked(KnownCard& known, const Plan& plan, Size card) const {
  if (known.asked_by != number_) {
    work_out(known.held, plan, card, known.use);
    known.asked_by = number_;
  }
  return known.use;
}

Size Uses::cards_alike(const Plan& plan, Size card) const {
  Size last = card + 1;
  const bool divided = s_.runtime->parallel.split == Split::tensors;
  while (divided && last < plan.cards && setup_.kind(last) == setup_.kind(card)) ++last;
  return last - card;
}

Size& Uses::nearest(Alone kind, double factor) const {
  const std::size_t end = factor < 1 ? 0 : factor > 1 ? 2 : 1;
  return setup_.nearest[3 * static_cast<std::size_t>(kind) + end];
}

Bytes Uses::weights(const Plan& plan, Size card) const {
  return s_.runtime->parallel.split == Split::tensors ? setup_.held(setup_.kind(card)).weights
                                                      : weights_on(s_, plan, card);
}

Bytes Uses::host_weights(const Plan& plan) const { return weights_on_host(s_, plan); }

HostUse Uses::host(const Plan& plan) const {
  const bool divided = s_.runtime->parallel.split == Split::tensors;
  HostUse use = divided ? setup_.held_by_host() : held_by_host(s_, plan);
  const bool experts = plan.partly_on_host && s_.runtime->offload.mode == Offload::compute;
  const bool computes =
      plan.streaming_buffer == Bytes(0) &&
      (plan.on_cpu.size() + plan.on_disk.size() > 0 || plan.head != Where::card || experts);
  if (computes) use.activations = work_.of_host();
  if (s_.draft != nullptr) use.kv_cache = draft_on_host(s_, plan).kv_cache;
  if (plan.assignment != nullptr) {
    use.kv_cache += resident_on_host(s_, plan, cache_).caches;
    return use;
  }
  if (!caches_on_cards(s_))
    use.kv_cache += plan.streaming_buffer > Bytes(0)
                        ? all_caches()
                        : cache_(plan.on_cards.first, plan.on_cards.last);
  if (computes)
    use.kv_cache +=
        cache_(plan.on_cpu.first, plan.on_cpu.last) + cache_(plan.on_disk.first, plan.on_disk.last);
  return use;
}

void Uses::work_out(const HeldBytes& held, const Plan& plan, Size card, CardUse& use) const {
  use = {};
  use.weights = held.weights;
  const Bytes own = caches_on_card(s_, plan, cache_, card);
  use.kv_cache = own;
  if (s_.draft != nullptr)
    use.kv_cache += draft_on_card(s_, plan.shards, card == plan.first_used_card).kv_cache;
  if (states_) {
    const Bytes states = caches_on_card(s_, plan, *states_, card);
    // One copy is the sequence's own; others are of proposed tokens.
    const Size copies = state_copies(s_), slots = s_.runtime->memory.pool.state_slots;
    use.state_slots = Bytes(states.count() / copies * (slots + copies - 1));
    use.growing = use.kv_cache - states;
  }
  const Bytes prompts = prompt_cache_ ? caches_on_card(s_, plan, *prompt_cache_, card) : own;
  use.overhead_weights = held.overhead;
  use.activations = std::max(work_(own, prompts, held.head), held.fused) + workspace(card) +
                    held.overhead + request_table(s_);
  use.context = held.context;
  use.host = held.host;
  use.fragmentation =
      rounded_down(static_cast<double>((use.weights + use.kv_cache + use.activations).count()) *
                   s_.runtime->memory.fragmentation.value);
}

}  // namespace headroom::model
