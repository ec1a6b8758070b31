// What to change where a model is refused because of how it is split over cards.
#pragma once

#include <string>
#include <vector>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {

/// Whether `reason` is of tensor, pipeline, data or expert parallelism, or of several machines.
bool is_of_split(Reason reason);

/// Splits that put everything on cards, from evaluating them: of the runtime that was asked for,
/// the quickest a token and the fewest cards; where it does not split over machines, the cards of
/// one, and the quickest split of an engine that does. Empty: none holds the model.
std::vector<std::string> other_splits(const Scenario& scenario);

}  // namespace headroom::model
