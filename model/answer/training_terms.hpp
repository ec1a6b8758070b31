// The terms of a training estimate, each with its formula, the numbers put in, and its source.
#pragma once

#include "model/answer/explain.hpp"
#include "model/train/training.hpp"

namespace headroom::model {

std::vector<Term> training_terms(const TrainingScenario& scenario, const TrainingEstimate& e);

}  // namespace headroom::model
