// Limits of training on a card, and changes that make a training step fit.
#pragma once

#include <vector>

#include "model/train/training.hpp"

namespace headroom::model {

/// Most sequences of a pass whose peak is within `card`; 0: not even one.
Size largest_batch(TrainingScenario scenario, Bytes card);
/// Most tokens of a sequence, a multiple of 64 and of the context-parallel cards; 0: none.
Size longest_sequence(TrainingScenario scenario, Bytes card);
/// Fewest data-parallel cards, a power of two up to 4096, that share out everything (ZeRO 3); 0:
/// none.
Size fewest_replicas(TrainingScenario scenario, Bytes card);

/// One thing that can be changed of a step, with its amount.
struct StepOption {
  enum class Kind {
    fused_attention,
    flash_attention,  ///< amount: the version of flash-attn that it needs
    fused_loss,
    fused_kernels,
    smaller_passes,  ///< amount: passes of one sequence before a step
    optimizer_8bit,
    pure_16bit,
    unraised,  ///< frozen weights outside quantised layers in 16 bit; amount: 1 if recomputation,
               ///< which the recipe brought, has to be asked for then
    zero_3,
    more_replicas,  ///< amount: data-parallel cards, with ZeRO 3
    recompute_all,
    optimizer_on_host,  ///< amount: the ZeRO stage that it needs besides; 0: none
    all_on_host,        ///< weights and states
    shorter_sequence,   ///< amount: tokens
    quantised_base,     ///< below adapters
    lora,               ///< amount: rank
    qlora               ///< amount: rank
  };
  Kind kind;
  Size amount = 0;
  bool operator==(const StepOption&) const = default;
};

/// One change of a step, or two together.
struct Change {
  std::vector<StepOption> options;
  Bytes peak{}, saved{}, host{};
  Bytes peak_high{};  ///< high end of the peak's interval
  double time = 1;    ///< time of a token, relative to the time without the change
  bool fits = false;
};

/// Single changes that save memory on the machine's smallest card, those that fit first, of these
/// the cheapest in time first; times as time_of_step has them. If no single change is enough, the
/// five cheapest sufficient pairs come before them. The machine has a card.
std::vector<Change> changes_that_save(const TrainingScenario& scenario, const Machine& machine);

}  // namespace headroom::model
