// Checks of the catalogue across rows and fields: colliding names, contradictory figures, and peaks
// that seem to include sparsity.
#pragma once

#include <string>
#include <vector>

#include "hardware/catalogue.hpp"

namespace headroom {

/// Findings, one a line, each starting with the row's name. Empty if the catalogue is clean. A
/// user's rows follow the same rules.
std::vector<std::string> lint(const Catalogue& catalogue);

}  // namespace headroom
