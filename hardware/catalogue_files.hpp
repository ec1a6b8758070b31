// The catalogue out of its TOML files: read by the build, and by the test that the program holds
// just that.
#pragma once

#include <filesystem>
#include <vector>

#include "hardware/catalogue.hpp"

namespace headroom {

/// All rows of `files` in the order of their names, so that a row may be based on one of an earlier
/// file. Short names of sources hold in every one of them.
/// Throws std::runtime_error as overlay does, also for a file that cannot be read.
Catalogue read_catalogue(std::vector<std::filesystem::path> files);

}  // namespace headroom
