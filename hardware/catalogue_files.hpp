// Reads the catalogue from its TOML files. The build uses it, and so does the test that compares
// the files with the program's copy.
#pragma once

#include <filesystem>
#include <vector>

#include "hardware/catalogue.hpp"

namespace headroom {

/// Reads all rows of `files` in name order, so that a row may be based on a row of an earlier file.
/// Short names of sources are valid in every file. Throws std::runtime_error as overlay does, also
/// for a file that cannot be read.
Catalogue read_catalogue(std::vector<std::filesystem::path> files);

}  // namespace headroom
