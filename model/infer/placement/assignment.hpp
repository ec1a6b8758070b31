// The place of each layer of a model, as a device map gives it or a search found it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// A card's number, or one of the two below.
using Spot = std::int16_t;
inline constexpr Spot on_cpu = -1, on_disk = -2;

/// A place for everything of a model. Make one with `assign`.
struct Assignment {
  std::vector<Spot> layer;    ///< each layer; without its experts if they are placed separately
  std::vector<Spot> experts;  ///< the routed experts of each block; empty: with the block
  Spot embedding = on_cpu;    ///< modules before the first decoding block
  Spot head = on_cpu;         ///< modules after the last one
  std::vector<std::vector<LayerSpan>>
      on;  ///< by card, then host memory, then disk: the same in ranges

  /// True if everything is in equal places.
  bool operator==(const Assignment& other) const {
    return layer == other.layer && experts == other.experts && embedding == other.embedding &&
           head == other.head;
  }
  Size cards() const { return static_cast<Size>(on.size()) - 2; }
  /// True if anything is there.
  bool uses(Spot spot) const { return !pieces(spot).empty() || embedding == spot || head == spot; }
  const std::vector<LayerSpan>& pieces(Spot spot) const {
    return on[static_cast<std::size_t>(spot >= 0 ? spot : cards() - 1 - spot)];
  }
};

/// `experts` as long as `layer`, or empty. The pieces are as few and as long as can be.
Assignment assign(std::vector<Spot> layer, std::vector<Spot> experts, Spot embedding, Spot head);

/// The assignment that a plan of whole layers means.
Assignment assignment_of(const Plan& plan);

/// The plan of the scenario's assignment: what is short where it does not fit. `memory_factor` as
/// in `place`. Only for runtimes that split by layers.
Plan place_assigned(const Uses& uses, double memory_factor);

/// Bytes that the scenario's assignment puts on a card, in host memory and on disk: weights, and
/// the caches of layers that run there. The buffer for streamed weights is not included.
struct ResidentBytes {
  Bytes weights, caches;
};
Bytes assigned_weights(const Scenario& scenario, Spot spot);
ResidentBytes resident_on_card(const Scenario& scenario, const Plan& plan, const CacheBytes& cache,
                               Size card);
/// Bytes of the caches on a card that is used, by the plan's assignment or by its ranges.
Bytes caches_on_card(const Scenario& scenario, const Plan& plan, const CacheBytes& cache,
                     Size card);
ResidentBytes resident_on_host(const Scenario& scenario, const Plan& plan, const CacheBytes& cache);
Bytes resident_on_disk(const Scenario& scenario);

/// Calls `f(piece)` for what of the layers is on `card`.
template <class F>
void for_pieces_on_card(const Plan& plan, Size card, F&& f) {
  if (plan.assignment != nullptr) {
    for (const LayerSpan& piece : plan.assignment->pieces(static_cast<Spot>(card))) f(piece);
    return;
  }
  if (card == plan.first_used_card && plan.tower.size() > 0)
    f(LayerSpan{plan.tower, Content::whole});
  f(LayerSpan{plan.layers_of(card), Content::whole});
}

/// For host memory and disk.
template <class F>
void for_pieces_in(const Plan& plan, Where where, F&& f) {
  if (plan.assignment != nullptr) {
    for (const LayerSpan& piece : plan.assignment->pieces(where == Where::cpu ? on_cpu : on_disk))
      f(piece);
    return;
  }
  const Range range = where == Where::cpu ? plan.on_cpu : plan.on_disk;
  if (range.size() > 0) f(LayerSpan{range, Content::whole});
}

}  // namespace headroom::model
