// Memory of a model without a machine, as a person reads it first.
#pragma once

#include <string>

#include "model/answer/explain.hpp"
#include "sweep/options/scenario_options.hpp"

namespace headroom::sweep {

/// At most 30 lines of at most 100 columns: memory by what it is for, and cards that hold it.
std::string memory_screen(const GivenScenario& given, const model::Explanation& explained);

}  // namespace headroom::sweep
