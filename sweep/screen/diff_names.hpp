// Names of models, machines and points as a screen of changes has them.
#pragma once

#include <string>

#include "report/diff.hpp"

namespace headroom::sweep {

/// "llama-3.1-8B, q4_K_M, vllm, rtx-4090, batch 8": model and machine of a point, and the other
/// axes of its run that have several values.
std::string axis_words(const report::Diff& diff, const report::PointChange& change);
/// "rtx-4090" of "1x rtx-4090 @ desktop-ddr5-64gb".
std::string short_machine_name(const std::string& machine);

}  // namespace headroom::sweep
