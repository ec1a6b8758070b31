// The time of a training step by part: what the card that sets the pace multiplies and moves, at
// which rate, and what it waits for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/answer/breakdown.hpp"
#include "model/train/time.hpp"

namespace headroom::model {

/// Of all passes of a step, on one card.
struct StepPart {
  std::string_view phase;  ///< "forward", "backward", "recomputation", "collectives", …
  std::string_view what;   ///< "matrices", "gradients reduced", …
  double flops = 0;
  double bytes = 0;    ///< over the card's memory; of an optimizer on the host over its RAM
  double sent = 0;     ///< bytes to other cards, over the host's bus or to disk
  double seconds = 0;  ///< of the step: parts add up to it
  double hidden = 0;   ///< seconds behind the passes, in no sum
  Bound bound = Bound::memory;
  std::string rate;  ///< "0.46 of 989.4 TFLOPS"
};

/// Parts that take no time are left out. Parameters as of time_of_step.
std::vector<StepPart> step_parts(const TrainingScenario& scenario, const StepShape& shape,
                                 const TrainingEstimate& memory, const Machine& machine,
                                 const TrainingPace& pace);

}  // namespace headroom::model
