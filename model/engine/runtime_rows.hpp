// The policies of each engine, and what stands for its constants until measured rows do.
#pragma once

#include <vector>

#include "model/engine/runtime.hpp"

namespace headroom::model {

/// One row an engine, no constant of it measured.
std::vector<Engine> policy_rows();

/// The name of the row whose constants this one shares: engines that became faster at once have
/// several generations, each with constants of its own (model/engine/constants.tsv).
std::string_view generation_of(const Engine& runtime);

/// What engines have in common that launch the same libraries' kernels; empty: it has its own.
std::string_view kernels_of(const Engine& runtime);

}  // namespace headroom::model
