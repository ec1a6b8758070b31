// Memory that this computer's other programs use now, compared with an estimate.
#pragma once

#include "model/answer/explain.hpp"
#include "model/infer/estimate.hpp"
#include "sweep/options/machine_options.hpp"

namespace headroom::sweep {

/// Warns if a card or the host has less free memory now than the estimate needs. An engine that
/// reserves a share of the card needs that share. A verdict "fits" then becomes marginal, also if
/// free memory lies within the interval of the needed memory.
void compare_with_free_memory(const FreeMemory& free, const model::Scenario& scenario,
                              model::Explanation& explained);

}  // namespace headroom::sweep
