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

#include "model/describe/layer_range.hpp"
#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/scenario/scenario.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {

enum class Where : std::uint8_t { card, cpu, disk };

/// Part of a layer: all of it; all except its experts, caches included; only its experts.
enum class Content : std::uint8_t { whole, dense, experts };
/// Layers that follow each other, or the same part of each of them.
struct LayerSpan {
  Range layers;
  Content content = Content::whole;
};

/// A placement and what it holds. Ranges are contiguous and cover every layer once, and a tower of
/// images on the first card may stand apart from the other layers there. With an assignment they
/// only count the layers; model/infer/placement/assignment.hpp names each.
struct Plan {
  Reason reason = Reason::none;   ///< none: feasible
  Bytes short_bytes;              ///< missing memory, if it does not fit
  Size short_card = -1;           ///< with an assignment: the card that is short
  Size cards = 0;                 ///< cards used: replica by replica, stage by stage
  Size shards = 1;                ///< cards that split each matrix (tensor parallelism)
  Size stages = 1;                ///< groups of cards that follow each other (pipeline parallelism)
  Size replicas = 1;              ///< replicas of the model (data parallelism)
  bool shared_experts = false;    ///< by the replicas: each holds a part of them
  Size expert_groups = 1;         ///< expert parallelism: groups of cards with experts of their own
  bool computes_on_card = false;  ///< false: everything runs on the CPU
  Range on_cards, on_cpu, on_disk;
  Range tower{0, 0};  ///< layers on the first used card although layers after them are on the CPU
  /// Card i (or stage i) holds layers [layer_boundaries[i], layer_boundaries[i + 1]).
  boost::container::small_vector<Size, 17> layer_boundaries;
  Where embedding = Where::card, head = Where::card;
  const Assignment* assignment = nullptr;  ///< null: the ranges above
  Size head_card = -1;          ///< the card with the output, if a card has it; -1: the last one
  Size first_used_card = 0;     ///< first card that is not passed over
  bool partly_on_host = false;  ///< some tensors of layers on cards stay in host memory
  Range host_experts{0, 0};     ///< layers whose routed experts are these, if the engine decides
  Bytes kept_on_disk;           ///< part of the tensors that stay in host memory although their
                                ///< layers are on cards: mapped, and too many for that memory
  Bytes streaming_buffer;       ///< on the first card, for weights that are streamed through it
  bool feasible() const { return reason == Reason::none; }
  Size stage_of(Size card) const {
    return replicas * shards == 1 ? card : card % (cards / replicas) / shards;
  }
  Range layers_of(Size card) const {
    const auto stage = static_cast<std::size_t>(stage_of(card));
    return {layer_boundaries[stage], layer_boundaries[stage + 1]};
  }
  bool has_head(Size card) const {
    if (head != Where::card) return false;
    return head_card >= 0 ? card == head_card : stage_of(card) == cards / (replicas * shards) - 1;
  }
  /// `card` among those that divide the matrices and the experts of its stage.
  Rank rank(Size card, const Engine& runtime) const {
    const Size replica = shared_experts ? card / (cards / replicas) : 0;
    return {.cards = shards,
            .expert_cards = shards * sharing(),
            .expert_groups = expert_groups,
            .vocabulary_multiple = runtime.weights.vocabulary_multiple,
            .index = replica * shards + card % shards};
  }
  /// Replicas whose tokens meet in the experts.
  Size sharing() const { return shared_experts ? replicas : 1; }
  bool operator==(const Plan& other) const;
  /// True if each card holds the same under `other`, whatever is in host memory and on disk.
  bool is_alike_on_cards(const Plan& other) const;
};

/// True if `card` has any content. An unused card does not even have a context.
bool is_used(const Plan& plan, Size card);
Size cards_used(const Plan& plan);

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
  Bytes work() const { return activations + context + fragmentation; }
  Bytes total() const { return weights + kv_cache + work(); }
  Bytes uncertain() const { return uncertain_part(total(), work()); }
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
  CardUse card(const Plan& plan, Size card) const;
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
  Bytes working_memory() const { return working_; }
  const CacheBytes& caches() const { return cache_; }
  Bytes all_caches() const { return all_caches_; }
  const Scenario& scenario() const { return s_; }
  const Setup& setup() const { return setup_; }

 private:
  Uses(const Scenario& scenario, std::shared_ptr<const Setup> setup) : Uses(scenario, *setup) {
    own_setup_ = std::move(setup);
  }
  Bytes workspace(Size card) const;
  CardUse use_of(const HeldBytes& held, const Plan& plan, Size card) const;
  /// Worked out once for each `known` that this scenario asks for in turn.
  const CardUse& asked(KnownCard& known, const Plan& plan, Size card) const;
  HostUse held_by_host(const Plan& plan) const;

  const Scenario& s_;
  std::shared_ptr<const Setup> own_setup_;
  const Setup& setup_;
  CacheBytes cache_;
  Bytes all_caches_;  ///< caches of all layers
  WorkingMemory work_;
  CacheBytes prompt_cache_;  ///< empty where caches do not grow
  CacheBytes states_;        ///< recurrent states, if the pool has bytes for them
  Bytes working_;
  Bytes overhead_;  ///< working memory and rotary tables of any card
  double graphs_;   ///< bytes of CUDA graphs on any card
  Size number_;     ///< among all with this set-up
  // If matrices are split, the set-up determines a plan except for whether it fits.
  mutable boost::container::small_vector<CardUse, 2> kinds_;  ///< those known so far
  mutable std::optional<HostUse> host_;
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
/// Layers among `layers` with such tensors.
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
