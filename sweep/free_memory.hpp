// What this computer's other programs hold now, beside what an estimate needs.
#pragma once

#include "model/answer/explain.hpp"
#include "model/infer/estimate.hpp"
#include "sweep/options/machine_options.hpp"

namespace headroom::sweep {

/// Where a card, or the host, has less free now than what the estimate takes of it, which for an
/// engine that sets its share of a card aside is that share: a warning, and where it fits it is no
/// longer sure. So it is where what is free lies within the interval of what is needed.
void hold_against_free(const FreeMemory& free, const model::Scenario& scenario,
                       model::Explanation& explained);

}  // namespace headroom::sweep
