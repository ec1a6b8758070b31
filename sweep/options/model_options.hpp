// Which models a command line means: operands, --model, or the flags of a custom one.
#pragma once

#include <string>
#include <vector>

#include "sweep/options/options.hpp"
#include "sweep/sources/custom_model.hpp"

namespace headroom::sweep {

/// Every flag that says which model.
#define HEADROOM_MODEL_FLAGS "model " HEADROOM_CUSTOM_FLAGS

/// References as resolve_model takes them, at least one. Throws UsageError if there is none. It
/// also throws if flags of a custom model accompany a MODEL with its own sizes.
std::vector<std::string> models_given(const Options& options);
/// For commands that take one model.
std::string model_given(const Options& options);

}  // namespace headroom::sweep
