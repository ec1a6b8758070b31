// Reads a small text file in one call.
#pragma once

#include <string>
#include <string_view>

namespace headroom {

/// Whole content of `file`. If it cannot be read (a folder, for example), throws std::runtime_error
/// naming the file and, if given, what was `expected`.
std::string read_text_file(const std::string& file, std::string_view expected = {});

}  // namespace headroom
