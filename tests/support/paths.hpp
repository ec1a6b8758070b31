// Paths of the source tree and the built program.
#pragma once

#include <string>

namespace headroom::test {

/// A file or folder of the source tree, by its path from the root: source_path("tests/cli").
std::string source_path(const std::string& relative);

/// The program that this build makes.
std::string program_path();

}  // namespace headroom::test
