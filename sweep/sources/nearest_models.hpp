// Which models a name that nothing knows may have meant.
#pragma once

#include <string>
#include <vector>

namespace headroom::sweep {

/// Up to three names of the catalogue and short names, best first: those of the size that `name`
/// states ("7b"), of them those that begin as it does; then the nearest by edit distance.
std::vector<std::string> nearest_models(const std::string& name);

}  // namespace headroom::sweep
