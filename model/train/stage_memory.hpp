// Memory of a training step on a card of one pipeline stage.
#pragma once

#include "model/train/passes.hpp"
#include "model/train/shape.hpp"

namespace headroom::model {

/// All terms of a card of `stage`, and their peak. `kinds`: kept_by_kinds() of the step.
TrainingEstimate memory_of_stage(const TrainingScenario& scenario, const StepShape& shape,
                                 const KeptByKinds& kinds, Size stage);

}  // namespace headroom::model
