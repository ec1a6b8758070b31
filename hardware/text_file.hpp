// A small text file at once.
#pragma once

#include <string>
#include <string_view>

namespace headroom {

/// All of `file`. Throws std::runtime_error naming it, and what was `expected` where that is given,
/// where it cannot be read, as a folder cannot.
std::string read_text_file(const std::string& file, std::string_view expected = {});

}  // namespace headroom
