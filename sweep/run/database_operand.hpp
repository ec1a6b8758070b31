// DATABASE|FOLDER on the command line.
#pragma once

#include <filesystem>
#include <string>

#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// True if the file begins as databases of SQLite do.
bool is_database(const std::filesystem::path& file);

/// The file, or results.sqlite in the folder. Throws StoreError for a file of another kind.
std::filesystem::path database_file(const std::string& given);
/// The database of the only operand; throws UsageError for none or several.
std::filesystem::path database_operand(const Options& options);

}  // namespace headroom::sweep
