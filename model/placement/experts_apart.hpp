// All layers on cards and some of their experts in host memory: what users of large mixtures run.
#pragma once

#include <vector>

#include "model/estimate.hpp"
#include "model/placement/layer_split.hpp"

namespace headroom::model {

/// llama.cpp's --n-cpu-moe N with every layer and the output on cards: the routed experts of the
/// first N layers are in host memory and computed there. Caches and all that every token goes
/// through stay on cards, so that little is left to the CPU.
class ExpertsApart {
 public:
  /// Of a scenario whose layers are not placed by hand. Has no effect where the engine does not
  /// keep experts apart, without experts and without cards.
  explicit ExpertsApart(const Scenario& scenario);

  /// Puts as few layers' experts into host memory as the cards' budgets divided by `memory_factor`
  /// ask for, where a step is quicker than with the last layers on the cards, which the engine
  /// chooses itself. Gives their number; 0: the scenario is left as it is. It points into this.
  Size improve(Scenario& scenario, double memory_factor = 1) const;

 private:
  std::vector<LayerSplit> splits_;  // [n]: experts of the first n decoding layers; [0] is not used
};

}  // namespace headroom::model
