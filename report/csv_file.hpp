// The file of every point in a run's folder: results.csv, results.csv.gz or none.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "report/read.hpp"

namespace headroom::report {

enum class CsvFile { plain, gz, none };
/// "plain", "gz", "none", by the order of CsvFile.
inline constexpr std::string_view csv_file_words[] = {"plain", "gz", "none"};

/// "results.csv", "results.csv.gz"; empty for none.
std::string csv_file_name(CsvFile form);

/// Writes the run's points into `folder` as csv.hpp has them, and removes a file of another form.
/// Equal points make equal bytes, compressed too. Throws StoreError.
void write_csv_file(const std::filesystem::path& folder, CsvFile form, const Database& database,
                    std::int64_t run);

/// The last line of the folder's README.md: which form, of which run (by its fingerprint).
std::string csv_line(const std::filesystem::path& folder, CsvFile form,
                     std::string_view fingerprint);
/// True if the folder has a report of an earlier run, so that what lies in it is this program's.
bool has_report(const std::filesystem::path& folder);
/// True if the file of this form lies there and has the points of a run with this fingerprint.
bool csv_is_of(const std::filesystem::path& folder, CsvFile form, std::string_view fingerprint);

}  // namespace headroom::report
