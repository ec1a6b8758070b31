// Servings by a way of a plan: divisions of its machine, their sequences or context.
#pragma once

#include <vector>

#include "model/infer/serving.hpp"
#include "sweep/plan/plan.hpp"

namespace headroom::sweep {

/// Servings of `scenario` that may answer; at least one. They are every division of the machine
/// where sequences are counted, else the best. Weights leave the cards only where the demand is not
/// met otherwise.
std::vector<model::Serving> servings_of(const Question& question, const model::Scenario& scenario,
                                        const model::Target& target);

}  // namespace headroom::sweep
