// Fewer cards, or fewer requests at once, that would do better than those that were asked for.
#pragma once

#include <string>
#include <vector>

#include "model/infer/estimate.hpp"

namespace headroom::sweep {

/// A line where some of the machine's cards serve more than all of them, and one where fewer
/// requests at once do. Weights and engine stay. More of either should help, so a screen says where
/// it does not. Empty where the model does not fit.
std::vector<std::string> fewer_notes(const model::Scenario& scenario,
                                     const model::Estimate& estimate);

}  // namespace headroom::sweep
