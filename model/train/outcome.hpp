// A training step on a machine as one row of a table: whether it fits, its memory and its time.
#pragma once

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/training.hpp"

namespace headroom::model {

/// Compares the step's needs with the machine. All cards count as full as the fullest card of the
/// run. The host holds what all cards offload to it.
///
///   peak <= memory of the smallest card; cards * host <= ram_beside(peak); cards * disk <= disk
Estimate outcome_of(const TrainingScenario& scenario, const TrainingEstimate& estimate,
                    const Machine& machine);

/// The terms of a step, without a verdict.
Estimate row_of(const TrainingEstimate& estimate);

/// A step that is impossible.
Estimate refused_step(Reason reason);

/// Host memory of all boxes; where the cards share it, without `on_card` bytes for each.
Bytes ram_beside(const Machine& machine, Size cards, Bytes on_card);

/// Memory of the smallest card that a program sees; 0 without cards.
Bytes smallest_card(const Machine& machine);

}  // namespace headroom::model
