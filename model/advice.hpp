// What to change when a model does not fit, or only with offload: the smallest change that helps.
#pragma once

#include <string>

#include "model/estimate.hpp"

namespace headroom::model {

/// One line for a reader, from evaluating the changes themselves: fewer bits, more cards, more host
/// memory. Empty when everything is on cards, and where the placement is given. Example: "int8:
/// 141.1 -> 72.7 GB, fits on 2 GPUs".
std::string advice(const Scenario& scenario, const Estimate& estimate);

}  // namespace headroom::model
