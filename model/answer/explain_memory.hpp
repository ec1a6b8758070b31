// The bytes behind an estimate.
#pragma once

#include "model/infer/placement/placement.hpp"

namespace headroom::model {

struct Explanation;

/// Weights and caches of the model, then what the fullest card holds.
void add_memory_terms(const Scenario& scenario, const Plan& plan, Explanation& out);

}  // namespace headroom::model
