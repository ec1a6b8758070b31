// The folder into which weights would be offloaded.
#pragma once

#include <string>

#include "hardware/units.hpp"

namespace headroom::sweep {

/// Free space of `folder`, which need not exist yet. Throws std::runtime_error where it is no
/// folder or files could not be made in it, saying what would have worked.
Bytes space_in(const std::string& folder);

}  // namespace headroom::sweep
