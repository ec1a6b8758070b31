// What to change when a model does not fit, or only with offload: the smallest change that helps.
#pragma once

#include <string>

#include "model/infer/estimate.hpp"

namespace headroom::model {

/// One line for a reader, from evaluating the changes themselves: fewer bits of weights or caches,
/// a shorter context, a smaller batch, more cards, offload, more host memory, each with what the
/// fullest card holds and the time that a token takes then. Empty when everything is on cards, and
/// where the placement is given. Example: "int8: 141.1 -> 72.7 GB, fits on 2 GPUs with 38.0
/// GB, 31.2 ms a token".
std::string advice(const Scenario& scenario, const Estimate& estimate);

/// What a card alone would have to offer so that everything is on it: weights, caches, work,
/// context and the allocator's share, over the share that the engine uses. 0 where the scenario is
/// refused.
Bytes least_card(const Scenario& scenario);

}  // namespace headroom::model
