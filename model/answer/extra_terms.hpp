// What an estimate says beside the model itself: terms of what is served with it, and notes on the
// room that is left.
#pragma once

#include <string>
#include <vector>

#include "model/answer/explain.hpp"
#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// Terms of adapters, a draft model, images, and of host memory that no total counts.
std::vector<Term> extra_terms(const Scenario& scenario, const Plan& plan);

/// What the engine would log of its caches, how much one card alone would have to offer, and where
/// the fullest of `devices` is against the 75 to 80 % that leave a margin for peaks.
std::vector<std::string> room_notes(const Scenario& scenario, const Plan& plan,
                                    const std::vector<DeviceUse>& devices);

}  // namespace headroom::model
