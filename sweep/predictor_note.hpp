// What the modules of a checkpoint that predict further tokens would bring.
#pragma once

#include <optional>
#include <string>

#include "model/infer/estimate.hpp"

namespace headroom::sweep {

/// A line for an estimate that does not use them: tokens/s with its interval for the best number of
/// proposed tokens up to 4, or why the engine cannot. Nothing where the checkpoint has none or the
/// model does not fit.
std::optional<std::string> predictor_note(const model::Scenario& scenario,
                                          const model::Estimate& plain);

}  // namespace headroom::sweep
