// A training step on a machine as one row of a table: whether it fits, what it takes, how long.
#pragma once

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/training.hpp"

namespace headroom::model {

/// What the step needs of a machine, and whether it is there. Cards are as full as the fullest one
/// of the run; the host holds what all cards put into it.
///
///   peak <= memory of the smallest card; cards * host <= RAM; cards * disk <= disk
Estimate outcome_of(const TrainingScenario& scenario, const TrainingEstimate& estimate,
                    const Machine& machine);

/// The terms of a step without a word on whether they fit.
Estimate row_of(const TrainingEstimate& estimate);

/// A step that cannot be.
Estimate refused_step(Reason reason);

/// Memory of the smallest card; 0 without cards.
Bytes smallest_card(const Machine& machine);

}  // namespace headroom::model
