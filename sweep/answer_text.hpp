// An estimate as a person reads it first: the verdict, the ways compared, what was assumed.
#pragma once

#include <string>

#include "model/answer/explain.hpp"
#include "sweep/options/scenario_options.hpp"

namespace headroom::sweep {

/// At most 30 lines of at most 100 columns, but for long names. `given` is on a machine.
std::string answer_text(const GivenScenario& given, const model::Explanation& explained);

}  // namespace headroom::sweep
