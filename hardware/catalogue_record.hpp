// The form in which the build embeds the shipped catalogue: every field in binary, so that a start
// parses no text. The record is never stored or exchanged: program and record come from one build.
#pragma once

#include <string>
#include <string_view>

#include "hardware/catalogue.hpp"

namespace headroom {

/// Writes every field of every row, exactly.
std::string to_record(const Catalogue& catalogue);

/// Reads what `to_record` wrote. Throws std::logic_error for anything else.
Catalogue from_record(std::string_view record);

}  // namespace headroom
