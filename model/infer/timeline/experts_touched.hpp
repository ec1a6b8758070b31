// Number of a layer's experts that a pass reads.
#pragma once

#include "model/describe/profile.hpp"

namespace headroom::model {

/// Expected share of a layer's experts that `tokens` tokens touch: 1 - (1 - used/experts)^tokens,
/// for independent uniform routing. With the experts in `groups` equal groups: the share that the
/// group with the most of them touches.
double experts_touched(const Profile& profile, double tokens, Size groups = 1);

}  // namespace headroom::model
