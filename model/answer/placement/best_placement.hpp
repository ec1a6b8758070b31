// The fastest placement under a scenario's budgets, and the orders that engines fill devices in.
#pragma once

#include <optional>

#include "model/infer/placement/assignment.hpp"

namespace headroom::model {

/// A placement with the time of one step (model/infer/timeline/passes.hpp) under it.
struct Placed {
  Assignment assignment;
  Seconds step;
};

/// Nothing where it does not fit.
std::optional<Placed> placed_at(const Scenario& scenario, Assignment assignment);

/// Which layers are on the cards, as many as there is room for; the others are in host memory and,
/// from where that is full, on disk.
enum class Order {
  first_layers,  ///< and the embedding; the head after the last layer: accelerate
  last_layers,   ///< and the head where all of them are: llama.cpp -ngl
};
std::optional<Placed> in_order(const Scenario& scenario, Order order);

struct BestPlacement {
  Placed placed;
  Seconds bound;       ///< no placement takes less: equal to the step where `exact`
  bool exact = false;  ///< every placement was compared
  /// How much faster the best placement could be at the most, as a share of this one's step.
  double gap() const { return placed.step.value() > 0 ? 1.0 - bound / placed.step : 0.0; }
};

/// Of all ways to put whole layers (and, where the runtime can, experts apart from the rest of
/// their layer), the embedding and the head on the cards, in host memory and on disk, the one with
/// the shortest predicted step. Layers that are alike make one class of
/// model/answer/placement/search.hpp. The search adds the rooflines of a step's timeline. `bound`
/// counts the handoffs between devices that no order of layers avoids.
///
/// Nothing where the scenario is refused, the runtime splits matrices instead of layers, layers are
/// placed by hand, host and cards share one memory, or nothing fits.
std::optional<BestPlacement> best_placement(const Scenario& scenario);

}  // namespace headroom::model
