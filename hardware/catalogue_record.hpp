// The shipped catalogue as the build leaves it in the program: one field a line, read in a fraction
// of the time that its TOML takes. Never stored and never exchanged: program and record come from
// one build.
#pragma once

#include <string>
#include <string_view>

#include "hardware/catalogue.hpp"

namespace headroom {

/// Every field of every row, exactly.
std::string to_record(const Catalogue& catalogue);

/// What `to_record` wrote. Throws std::logic_error for anything else.
Catalogue from_record(std::string_view record);

}  // namespace headroom
