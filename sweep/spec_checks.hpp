// What the axes of a grid must be together, once each of them is read.
#pragma once

#include "sweep/spec.hpp"

namespace headroom::sweep {

/// Requests at once exclude batches, lengths at the 95th percentile need them and are no less than
/// the median, and no value is given twice. Throws SpecError.
void check_grid(const Spec& spec, GridSpec& grid);

}  // namespace headroom::sweep
