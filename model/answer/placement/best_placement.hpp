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

/// Order in which layers fill the cards. The other layers are in host memory and, once that is
/// full, on disk.
enum class Order {
  first_layers,  ///< and the embedding; the head after the last layer: accelerate
  last_layers,   ///< and the head where all of them are: llama.cpp -ngl
};
std::optional<Placed> in_order(const Scenario& scenario, Order order);

struct BestPlacement {
  Placed placed;
  Seconds bound;       ///< no placement takes less: equal to the step where `exact`
  bool exact = false;  ///< every placement was compared
  /// The largest possible gain of the true optimum, as a share of this placement's step.
  double gap() const { return placed.step.value() > 0 ? 1.0 - bound / placed.step : 0.0; }
};

/// The placement with the shortest predicted step. Whole layers, the embedding and the head may be
/// on the cards, in host memory or on disk. Experts may be separate from the rest of their layer if
/// the runtime supports that. Layers that are alike make one class of
/// model/answer/placement/search.hpp. The search adds the rooflines of a step's timeline. `bound`
/// counts the handoffs between devices that no order of layers avoids.
///
/// Empty if the scenario is refused, nothing fits, or layers are placed by hand. Also empty if the
/// runtime splits matrices, or host and cards share one memory.
std::optional<BestPlacement> best_placement(const Scenario& scenario);

}  // namespace headroom::model
