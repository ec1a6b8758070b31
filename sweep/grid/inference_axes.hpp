// The axes of a grid of inference.
#pragma once

#include <span>

#include "sweep/grid/axes.hpp"
#include "sweep/spec/job.hpp"

namespace headroom::sweep {

/// In the order of their digits.
std::span<const Axis<Choice>> inference_axes();

/// Those that set a number of the scenario, in the order of their columns.
const std::vector<const Axis<Choice>*>& number_axes();

}  // namespace headroom::sweep
