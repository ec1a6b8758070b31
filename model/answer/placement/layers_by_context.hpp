// Number of layers on the cards as the context grows, for a runtime that computes the rest on the
// CPU.
#pragma once

#include <vector>

#include "model/infer/estimate.hpp"

namespace headroom::model {

/// llama.cpp's options for one context.
struct LayersAtContext {
  Size context = 0;
  Size gpu_layers = 0;  ///< the most that fit, as --gpu-layers counts: the output is one more
  Estimate estimate;    ///< with them
  /// The fewest first layers (--n-cpu-moe) whose experts must stay in host memory so that
  /// everything else is on the cards. -1: the model has no experts, or moving all of them is not
  /// enough.
  Size cpu_moe = -1;
  Estimate with_cpu_moe;
};

/// Contexts by powers of two from 2048 tokens, the scenario's own and the model's longest; none
/// that does not hold the scenario's prompt and output. Other options of the scenario's split stay.
std::vector<LayersAtContext> layers_by_context(const Scenario& scenario);

}  // namespace headroom::model
