// DATABASE|FOLDER on the command line.
#pragma once

#include <filesystem>
#include <string>

#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// The file, or results.sqlite in the folder.
std::filesystem::path database_file(const std::string& given);
/// The database of the only operand; throws UsageError for none or several.
std::filesystem::path database_operand(const Options& options);

}  // namespace headroom::sweep
