// The terms of an estimate's times, for explain().
#pragma once

#include <string>

#include "model/answer/explain.hpp"
#include "model/infer/placement/placement.hpp"

namespace headroom::model {

struct Explanation;

/// "42 measured rows", "unmeasured".
std::string evidence(const Constant& constant);

/// Load, first token, step and the whole, with what each is made of. For a plan that is feasible;
/// out.estimate is its estimate.
void add_time_terms(const Scenario& scenario, const Plan& plan, Explanation& out);

}  // namespace headroom::model
