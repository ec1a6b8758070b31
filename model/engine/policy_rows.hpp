// The shipped engines before constants are measured, for the search that fits those constants.
#pragma once

#include <vector>

#include "model/engine/engine.hpp"

namespace headroom::model {

/// One row an engine, no constant of it measured: model/engine/engines/*.toml, read again.
std::vector<Engine> policy_rows();

}  // namespace headroom::model
