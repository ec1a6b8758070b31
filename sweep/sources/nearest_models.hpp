// Which models a name that nothing knows may have meant.
#pragma once

#include <string>
#include <vector>

namespace headroom::sweep {

/// Up to three names of the catalogue and short names, best first. Names of the size that `name`
/// states ("7b") come first, and among them those that begin like it. Nearest names by edit
/// distance follow.
std::vector<std::string> nearest_models(const std::string& name);

}  // namespace headroom::sweep
