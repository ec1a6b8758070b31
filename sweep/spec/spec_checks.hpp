// Checks of the axes of a grid against each other, after each is read.
#pragma once

#include "sweep/spec/spec.hpp"

namespace headroom::sweep {

/// Concurrencies exclude batches. Lengths at the 95th percentile need concurrencies and are no less
/// than the median. No value is given twice. Throws SpecError.
void check_grid(const Spec& spec, GridSpec& grid);

}  // namespace headroom::sweep
