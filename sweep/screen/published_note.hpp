// Checkpoints of the catalogue that hold the asked precision in another way.
#pragma once

#include <optional>
#include <string>

#include "model/infer/estimate.hpp"

namespace headroom::sweep {

/// A line where a published checkpoint of the model has matrices in the format of the scenario's
/// precision, and its weights differ by 2 % or more. It names the checkpoint, both sizes and a
/// verdict that differs. A precision's name says how matrices are stored, and not which ones:
/// makers leave attention or whole layers in 16 bit. Nothing for weights as the checkpoint has
/// them.
std::optional<std::string> published_note(const model::Scenario& scenario,
                                          const model::Estimate& estimate);

}  // namespace headroom::sweep
