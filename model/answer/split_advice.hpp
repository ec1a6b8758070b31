// Changes that help if a model is refused because of its split over cards.
#pragma once

#include <vector>

#include "model/answer/advice.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {

/// True if `reason` concerns tensor, pipeline, data or expert parallelism, or several machines.
bool is_of_split(Reason reason);

/// Splits that put everything on cards, from evaluating them. For the engine that was asked for:
/// the one with the fastest token and the one with the fewest cards. If that engine does not split
/// over machines: the cards of one machine, and the fastest split of an engine that does. Empty: no
/// split holds the model.
std::vector<Advice> other_splits(const Scenario& scenario);

}  // namespace headroom::model
