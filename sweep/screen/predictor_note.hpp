// Gain from the multi-token prediction modules of a checkpoint.
#pragma once

#include <optional>
#include <string>

#include "model/infer/estimate.hpp"

namespace headroom::sweep {

/// A line for an estimate that does not use them. It has tokens/s with its interval for the best
/// number of proposed tokens up to 4, or the reason why the engine cannot. Nothing where the
/// checkpoint has none or the model does not fit.
std::optional<std::string> predictor_note(const model::Scenario& scenario,
                                          const model::Estimate& plain);

}  // namespace headroom::sweep
