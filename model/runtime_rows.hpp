// The policies of each engine, and what stands for its constants until measured rows do.
#pragma once

#include <vector>

#include "model/runtime.hpp"

namespace headroom::model {

/// One row an engine, no constant of it measured.
std::vector<Runtime> policy_rows();

}  // namespace headroom::model
