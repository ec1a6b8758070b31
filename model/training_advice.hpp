// What fits on a card, and what could be changed so that a training step does.
#pragma once

#include <string>
#include <vector>

#include "model/training.hpp"

namespace headroom::model {

/// Most sequences of a pass whose peak is within `card`; 0: not even one.
Size largest_batch(TrainingScenario scenario, Bytes card);
/// Most tokens of a sequence, a multiple of 64 and of the context-parallel cards; 0: none.
Size longest_sequence(TrainingScenario scenario, Bytes card);
/// Fewest data-parallel cards, a power of two up to 4096, that share out everything (ZeRO 3); 0:
/// none.
Size fewest_replicas(TrainingScenario scenario, Bytes card);

/// One change of a step.
struct Change {
  std::string flags;   ///< what to add to the command line
  std::string effect;  ///< on time and on training
  Bytes peak, saved, host;
  bool fits = false;
};

/// Single changes that save memory, those that fit first, the cheaper in time before the dearer.
/// Times: full recomputation runs one more forward, 4/3 of forward and backward (arXiv:2205.05198,
/// section 5); sharing out weights moves 1.5 times as much as gradients alone (arXiv:1910.02054,
/// section 7).
std::vector<Change> changes_that_save(const TrainingScenario& scenario, Bytes card);

}  // namespace headroom::model
