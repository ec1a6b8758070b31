// The model of the same family that fits where a larger one does not.
#pragma once

#include <optional>

#include "model/answer/advice.hpp"
#include "model/infer/estimate.hpp"

namespace headroom::sweep {

/// The largest smaller catalogue model of the scenario's organisation and architecture that has
/// positions for the context and fits entirely on the cards. Its precision is its own if
/// `own_precision`, else the scenario's. "or Qwen/Qwen3-14B in bf16: 29.5 GiB, fits on 1 GPU
/// with 31.0 GiB, 21.1 ms a token"; empty where there is none, or the scenario is wholly on cards
/// itself or refused.
std::optional<model::Advice> smaller_model(const model::Scenario& scenario,
                                           const model::Estimate& estimate, bool own_precision);

}  // namespace headroom::sweep
