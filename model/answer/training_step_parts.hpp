// The spans of a training step as rows of a table. They cover the slowest card: its compute and
// traffic in each phase, the rates, and the waits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/answer/breakdown.hpp"
#include "model/train/time.hpp"

namespace headroom::model {

/// A span, or one phase of it, of all passes of a step on one card.
struct StepPart {
  std::string_view phase;  ///< "forward", "backward", "recomputation", "collectives", …
  std::string_view what;   ///< "matrices", "gradients reduced", …
  Flops flops{};
  RealBytes bytes{};  ///< over the card's memory; of an optimizer on the host over its RAM
  RealBytes sent{};   ///< bytes to other cards, over the host's bus or to disk
  Seconds seconds{};  ///< time of the step: parts add up to it
  Seconds hidden{};   ///< behind the passes, in no sum
  Bound bound = Bound::memory;
  std::string rate;  ///< "0.46 of 989.4 TFLOPS"
};

/// Parts that take no time are left out.
std::vector<StepPart> step_parts(const TrainingScenario& scenario, const Machine& machine,
                                 const StepTimeline& time);

}  // namespace headroom::model
