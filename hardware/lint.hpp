// Checks of the catalogue that no single row can fail by itself: names that collide, figures that
// contradict each other, peaks that look as if counted with sparsity.
#pragma once

#include <string>
#include <vector>

#include "hardware/catalogue.hpp"

namespace headroom {

/// What is wrong with `catalogue`, one finding a line, each starting with the row's name. Empty:
/// clean. A user's rows are held to the same rules.
std::vector<std::string> lint(const Catalogue& catalogue);

}  // namespace headroom
