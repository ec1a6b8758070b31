// Options that change nothing, or less than they seem to.
#pragma once

#include <string>
#include <vector>

#include "model/infer/estimate.hpp"

namespace headroom::sweep {

/// A line for options about the CPU's part that change no figure. Another where tensors are placed
/// by hand and an engine therefore fits no layers by itself.
std::vector<std::string> option_notes(const model::Scenario& scenario,
                                      const model::Estimate& estimate);

}  // namespace headroom::sweep
