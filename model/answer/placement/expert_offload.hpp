// All layers on cards and some of their experts in host memory: what users of large mixtures run.
#pragma once

#include <vector>

#include "model/infer/estimate.hpp"
#include "model/infer/evaluator.hpp"
#include "model/infer/scenario/layer_split.hpp"

namespace headroom::model {

/// llama.cpp's --n-cpu-moe N with every layer and the output on cards: the routed experts of the
/// first N layers are in host memory and computed there. Caches and all that every token goes
/// through stay on cards, so that little is left to the CPU.
class ExpertOffload {
 public:
  /// Valid for every scenario with these weights. Empty without experts.
  explicit ExpertOffload(const QuantisedModel& weights);

  struct Improved {
    Size layers = 0;  ///< whose experts are in host memory; 0: the scenario is left as it is
    Estimate estimate;
  };
  /// Puts as few layers' experts into host memory as the cards' budgets divided by `memory_factor`
  /// allow. It does so only if a step is faster than with the last layers on the cards, the
  /// engine's default. If the engine moves all experts by default, all of them move. The scenario
  /// points into this. No effect where the engine does not keep experts apart, without cards, and
  /// where layers are placed by hand.
  Improved improve(Scenario& scenario, Evaluator& evaluate, double memory_factor = 1) const;
  Improved improve(Scenario& scenario, double memory_factor = 1) const {
    Evaluator evaluate;
    return improve(scenario, evaluate, memory_factor);
  }

 private:
  bool applies_to(const Scenario& scenario) const;

  std::vector<LayerSplit> splits_;  // [n]: experts of the first n decoding layers; [0] is not used
};

}  // namespace headroom::model
