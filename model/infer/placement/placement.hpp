// Which layers are on which card, in host memory and on disk, for one scenario.
//
// Layers are filled in their order and never split. A runtime that streams offloaded weights keeps
// the first layers on the cards. One that computes on the CPU keeps the last ones there (llama.cpp
// -ngl). The exact map of accelerate is a separate mapper; this one determines memory and speed of
// a grid point.
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/placement/plan.hpp"
#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// The memory interval (MemoryPolicy::interval) is a factor on a device's uncertain bytes: its
/// work, which no shapes give, and this share of the total. The share stands for what no list
/// names: blocks of allocators, buffers of libraries. Weights and caches are sums over shapes.
inline constexpr double unlisted_share = 0.01;
inline Bytes uncertain_part(Bytes total, Bytes work) {
  return work + Bytes(static_cast<Size>(unlisted_share * real_count(total)));
}
/// `total` at the end `factor` of the memory interval. Rounded down.
inline Bytes bytes_at(Bytes total, Bytes uncertain, double factor) {
  return Bytes(static_cast<Size>(real_count(total) + (factor - 1) * real_count(uncertain)));
}
/// The most that the expected total may be, so that it keeps to `limit` at the end `factor` of the
/// memory interval: total + (factor - 1) * uncertain_part(total, work) <= limit. Rounded down.
inline Bytes limit_at(Bytes limit, Bytes work, double factor) {
  if (factor == 1) return limit;
  const double more = factor - 1;
  return Bytes(static_cast<Size>((real_count(limit) - more * real_count(work)) /
                                 (1 + more * unlisted_share)));
}

/// Bytes on `card` under `plan`. `fragmentation` is the allocator's share.
struct CardUse {
  Bytes weights, kv_cache, activations, context, fragmentation;
  /// Slots of all sequences, where the pool gives recurrent states bytes of their own; 0: it does
  /// not, or there are none. `growing`: the caches without states.
  Bytes state_slots, growing;
  Bytes overhead_weights;  ///< part of `activations` that exists since weights were loaded
  /// The host's use of a memory that both share: in no sum, and as uncertain as the work. The files
  /// of the weights in the page cache are most of it, so it is no more than the weights.
  Bytes host;
  Bytes work() const { return activations + context + fragmentation; }
  Bytes uncertain_work() const { return work() + host; }
  Bytes total() const { return weights + kv_cache + work(); }
  Bytes uncertain() const { return uncertain_part(total(), uncertain_work()); }
  /// Bytes of a pool that has room for the caches. With bytes for states, `ratio` times as many as
  /// for the rest: (1 + ratio) * max(growing, state_slots / ratio).
  Bytes pooled_caches(const Engine& engine) const;
  /// Weights in the pool, with the allocator's share.
  Bytes pooled_weights(const Engine& engine) const;
};
/// Bytes in host memory: offloaded weights, caches of layers computed there, the process itself.
struct HostUse {
  Bytes weights, kv_cache, activations, process;
  Bytes total() const { return weights + kv_cache + activations + process; }
};

class Setup;       // model/infer/placement/setup.hpp
struct HeldBytes;  // model/infer/placement/held.hpp
struct KnownCard;  // model/infer/placement/known_plans.hpp

/// Memory use of devices under any plan of a scenario. Caches by layer and working memory do not
/// depend on the plan and are computed once. One thread at a time.
class Uses {
 public:
  explicit Uses(const Scenario& scenario);
  /// `setup`: the scenario's, which outlives this.
  Uses(const Scenario& scenario, const Setup& setup);
  /// Valid until the next question.
  const CardUse& card(const Plan& plan, Size card) const;
  /// Cards from this one on that are known to hold as much each, itself included.
  Size cards_alike(const Plan& plan, Size card) const;
  /// Contents of the first card if no other card is used, by a number n.
  enum class Alone : std::uint8_t {
    items,           ///< the last n of layers and output
    dense_items,     ///< … without experts
    without_experts  ///< all, without the experts of the first n layers of the decoder
  };
  /// Memory of the first card under plan(), whatever sizes and budgets are. It is made once a
  /// block.
  template <class F>
  Bytes alone(Alone kind, Size n, F&& plan) const;  // model/infer/placement/setup.hpp
  /// The n at which the block's last search among plans of a kind ended, with a factor below, at or
  /// above 1: a next one starts there. -1: there was none. It ends at the same n from any start.
  Size& nearest(Alone kind, double memory_factor) const;
  /// Bytes that the cards of the division lack at an end of the memory interval. `missing()` works
  /// them out where they are not known.
  template <class F>
  Bytes lacking(double memory_factor, F&& missing) const {
    Lacking& known = lacking_[memory_factor < 1 ? 0 : memory_factor > 1 ? 2 : 1];
    if (known.factor != memory_factor || known.budget != s_.gpu_budget)
      known = {memory_factor, s_.gpu_budget, missing()};
    return known.bytes;
  }
  /// Its weights alone.
  Bytes weights(const Plan& plan, Size card) const;
  HostUse host(const Plan& plan) const;
  /// Its weights alone.
  Bytes host_weights(const Plan& plan) const;
  /// A card's budget at an end of the memory interval (limit_at), for what any card works in.
  Bytes limit(Size card, double memory_factor) const;
  /// Room on a card for weights and caches under that limit, after the context, the allocator's
  /// share and the work of a pass.
  Bytes room(Size card, double memory_factor) const;
  /// Work of a card that may have all caches, in prefill or while they grow.
  Bytes working_memory() const { return whole().working; }
  const CacheBytes& caches() const { return cache_; }
  Bytes all_caches() const { return whole().caches; }
  const Scenario& scenario() const { return s_; }
  const Setup& setup() const { return setup_; }

 private:
  Uses(const Scenario& scenario, std::shared_ptr<const Setup> setup) : Uses(scenario, *setup) {
    own_setup_ = std::move(setup);
  }
  /// `context`: the scenario's cached_tokens().
  Uses(const Scenario& scenario, const Setup& setup, Size context);
  Bytes workspace(Size card) const;
  void work_out(const HeldBytes& held, const Plan& plan, Size card, CardUse& use) const;
  /// Worked out once for each `known` that this scenario asks for in turn.
  const CardUse& asked(KnownCard& known, const Plan& plan, Size card) const;
  /// A card that may have all layers.
  struct Whole {
    Bytes caches;    ///< those of all layers
    Bytes working;   ///< working_memory()
    Bytes overhead;  ///< working memory and rotary tables
  };
  const Whole& whole() const;

  const Scenario& s_;
  std::shared_ptr<const Setup> own_setup_;
  const Setup& setup_;
  CacheBytes cache_;
  WorkingMemory work_;
  std::optional<CacheBytes> prompt_cache_;  ///< if caches grow
  std::optional<CacheBytes> states_;        ///< recurrent states, if the pool has bytes for them
  double graphs_;                           ///< bytes of CUDA graphs on any card
  Size number_;                             ///< among all with this set-up
  // If matrices are split, the set-up determines a plan except for whether it fits.
  mutable boost::container::small_vector<CardUse, 2> kinds_;  ///< those known so far
  mutable CardUse other_;                                     ///< the last answer that is not kept
  mutable std::optional<Whole> whole_;
  struct Lacking {
    double factor = -1;  ///< -1: not known
    Bytes budget{}, bytes{};
  };
  mutable std::array<Lacking, 3> lacking_;
};
inline CardUse card_use(const Scenario& scenario, const Plan& plan, Size card) {
  return Uses(scenario).card(plan, card);
}
inline HostUse host_use(const Scenario& scenario, const Plan& plan) {
  return Uses(scenario).host(plan);
}

/// The placement within budgets at `memory_factor`: 1 for the expected memory, the ends of the
/// memory interval for the verdict's sureness (limit_at).
Plan place(const Uses& uses, double memory_factor);
inline Plan place(const Scenario& scenario, double memory_factor) {
  return place(Uses(scenario), memory_factor);
}

/// True if that placement is feasible.
bool has_placement(const Uses& uses, double memory_factor);
/// place(uses, 1.0) where holds_division() is true at a factor of at least 1.
Plan place_division(const Uses& uses);

/// True if the caches of layers on cards are there too.
bool caches_on_cards(const Scenario& scenario);

/// Tables in layers that the engine leaves in host memory (OffloadPolicy::tables_on_host).
Bytes tables_on_host(const Scenario& scenario);
Bytes tables_on_host(const Scenario& scenario, Range layers);

/// Sums over the tensors of `layers` that stay in host memory although their layers are on cards.
/// They are those of the scenario's layer_split, else the experts that the engine moves there.
struct KeptOnHost {
  Bytes bytes{};
  double read_dense = 0, read_routed = 0;  ///< bytes, as in QuantisedModel
  double multiplied = 0;                   ///< elements, as in Profile
};
KeptOnHost kept_on_host(const Scenario& scenario, const Plan& plan, Range layers);
/// Layers among `layers` with such tensors; experts of one that repeats count at each run.
double layers_kept_on_host(const Scenario& scenario, const Plan& plan, Range layers);

/// Bytes of the weights of `card` that stay in host memory although their layers run on it.
Bytes weights_kept_on_host(const Scenario& scenario, const Plan& plan, Size card);

/// As above, of all cards, whether they are in host memory or read from their mapped file.
Bytes weights_kept_on_host(const Scenario& scenario, const Plan& plan);

/// True if a pass reads weights from disk.
bool reads_disk(const Plan& plan);

/// Files of the weights, and of a model that drafts.
Bytes file_bytes(const Scenario& scenario);

/// Weights that stay on disk.
Bytes disk_use(const Scenario& scenario, const Plan& plan);

/// Memory that the process may use on `card`: card_budget_within() the scenario's budget. Without a
/// budget it is the engine's share of the card, or less where so much may not be free at start
/// (model/infer/placement/outside_share.hpp). An engine that decides how many layers go to cards
/// also leaves its margin.
Bytes card_budget(const Scenario& scenario, std::size_t card);
/// The budget of a card with `memory`, if the scenario has none in bytes.
Bytes own_budget(const Scenario& scenario, Bytes memory);
/// The largest of the machine's cards' own budgets; 0 without cards.
Bytes largest_own_budget(const Scenario& scenario);
/// `asked` bytes on a card whose own budget is `own`, and which holds `most`. A smaller card keeps
/// its own budget, until `asked` exceeds the own budget of the largest card. The excess takes from
/// the margin of every card alike. So the largest own budget asks for what no budget asks for.
Bytes card_budget_within(Bytes asked, Bytes own, Bytes most, Bytes largest_own);

/// Bytes that weights leave to caches in their common share of a card with `memory`, at
/// `memory_factor` (model/infer/memory/static_share.hpp). Only for engines with such a share.
Bytes pool_of_caches(const Scenario& scenario, const Plan& plan, const CardUse& use, Bytes memory,
                     double memory_factor);

/// Bytes by which caches exceed them; negative: what is left. An engine without such a share never
/// exceeds it.
Bytes over_pool(const Scenario& scenario, const Plan& plan, const CardUse& use, Bytes memory,
                double memory_factor);

/// Memory of a card, and the part of it that the process may use.
struct Limits {
  Bytes budget, memory;
};
/// Bytes by which a card exceeds its limits; negative: what is left. Limits are those of its
/// budget, of the share of weights and caches in it (over_pool), and of the memory beside it
/// (model/infer/placement/outside_share.hpp).
Bytes over_limits(const Uses& uses, const Plan& plan, Size card, Limits of, double memory_factor);

/// As above, with the scenario's limits of that card.
Bytes over_budget(const Uses& uses, const Plan& plan, Size card, double memory_factor);

/// Memory that the engine takes on `card` when it has started, as nvidia-smi shows it.
Bytes reserved_at_start(const Scenario& scenario, const Plan& plan, const CardUse& use,
                        std::size_t card);

/// The largest card's; 0 without cards.
Bytes largest_card_budget(const Scenario& scenario);

/// Bytes of layers [range), or of a part of each.
inline Bytes layer_bytes(const QuantisedModel& weights, Range range) {
  return between(weights.layers_before, range);
}
Bytes piece_bytes(const QuantisedModel& weights, const LayerSpan& piece);

}  // namespace headroom::model
