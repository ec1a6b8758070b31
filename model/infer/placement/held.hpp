// Bytes on a card under a plan, whatever the sizes (batch, tokens) and budgets are.
#pragma once

#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// Bytes on one card that depend on the plan alone.
struct HeldBytes {
  Bytes weights;   ///< the model's and a draft model's, with the buffer for streamed ones
  Bytes overhead;  ///< the allocator's on weights, and tables beside them, since they were loaded
  Bytes fused;     ///< copies while the engine fuses matrices at start
  Bytes context;   ///< the driver's, and buffers of links between cards
  Bytes host;      ///< CardUse::host
  Head head = Head::here;
};
HeldBytes held_on(const Scenario& scenario, const Plan& plan, Size card);
/// Its weights alone.
Bytes weights_on(const Scenario& scenario, const Plan& plan, Size card);

/// Host memory under a plan, whatever the sizes and budgets are: weights, and the process. Working
/// memory and caches come on top.
HostUse held_by_host(const Scenario& scenario, const Plan& plan);
/// Its weights alone.
Bytes weights_on_host(const Scenario& scenario, const Plan& plan);

/// Mean overhead of the allocator's blocks for each byte of weights.
double rest_share(const Scenario& scenario);

}  // namespace headroom::model
