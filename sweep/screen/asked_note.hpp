// The line that says that an engine is asked for fewer sequences at once than its usual number.
#pragma once

#include <optional>
#include <string>

#include "model/infer/scenario/scenario.hpp"

namespace headroom::sweep {

/// The number as an option, and why the usual one is not kept. Nothing where it is.
std::optional<std::string> asked_note(const model::Scenario& scenario);

}  // namespace headroom::sweep
