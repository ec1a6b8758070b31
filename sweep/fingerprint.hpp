// What a run's results depend on, as one number: only an unfinished run with the same one is
// resumed.
#pragma once

#include <string>

#include "sweep/job.hpp"

namespace headroom::sweep {

/// Hexadecimal; differs when the spec's text, a model, an axis value, the program's version or its
/// formulas do. Formulas are seen through the outcomes of a sample of points.
std::string fingerprint(const Job& job, const Spec& spec);

}  // namespace headroom::sweep
