// The file of every point in a run's folder: results.csv, the same compressed, or none.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "report/read.hpp"

namespace headroom::report {

enum class CsvFile { plain, gz, zst, none };
/// By the order of CsvFile.
inline constexpr std::string_view csv_file_words[] = {"plain", "gz", "zst", "none"};

/// "results.csv", "results.csv.gz", "results.csv.zst"; empty for none.
std::string csv_file_name(CsvFile form);

/// Writes the run's points into `folder` as csv.hpp has them, and removes a file of another form.
/// Equal points make equal bytes, compressed too. Throws StoreError.
void write_csv_file(const std::filesystem::path& folder, CsvFile form, const Database& database,
                    std::int64_t run);

}  // namespace headroom::report
