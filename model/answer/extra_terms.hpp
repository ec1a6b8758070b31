// Additional terms of an estimate: adapters, draft model and images, and notes on free memory.
#pragma once

#include <string>
#include <vector>

#include "model/answer/explain.hpp"
#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// Terms of adapters, a draft model, images, and of host memory that no total counts.
std::vector<Term> extra_terms(const Scenario& scenario, const Plan& plan);

/// Notes: the engine's log line about its caches, the memory that a single card would need, and the
/// fill of the fullest device. Between 75 and 80 % leaves a margin for peaks.
std::vector<std::string> room_notes(const Scenario& scenario, const Plan& plan,
                                    const std::vector<DeviceUse>& devices);

}  // namespace headroom::model
