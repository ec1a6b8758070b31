// Memory that the optimizer's step needs on a card besides weights, master copies and states.
#pragma once

#include "model/train/training.hpp"

namespace headroom::model {

/// The elements that a step updates, and the types of their copies.
struct StepOperands {
  Size partition = 0;       ///< trained elements that this card updates
  Size gradient_bytes = 2;  ///< bytes of an element of a gradient
  Size stepped_bytes = 4;   ///< bytes of an element of the updated copy
};

struct StepMemory {
  Bytes bytes;                   ///< temporaries; gradients too where `frees_gradients`
  bool frees_gradients = false;  ///< the gradients of the pass are gone at the step's peak
};

/// The step on the card; an optimizer in host memory needs none of it.
StepMemory step_memory(const TrainingScenario& scenario, const StepOperands& operands);

}  // namespace headroom::model
