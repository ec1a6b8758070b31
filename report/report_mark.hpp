// The last line of README.md in a run's folder: what the reports show, and the state of every file
// when they were complete. It tells whether anything has changed since.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/csv_file.hpp"

namespace headroom::report {

/// A file of the reports that stands in their folder, README.md left out, and its content in words.
struct ReportFile {
  std::string_view name, meaning;
};
std::span<const ReportFile> report_files();
/// Folders of the reports, with the endings of their files in each.
const std::map<std::string, std::set<std::string>>& report_folders();
/// Every file of the reports that is in `folder`, relative to it, README.md included.
std::vector<std::filesystem::path> files_there(const std::filesystem::path& folder);

/// A state is a digest of sizes, inodes and times of the last change (mtime and ctime, in
/// nanoseconds). Any write, copy or rename changes it, also one that puts size and date back.
struct ReportMark {
  std::int64_t run = 0;       ///< the run that the reports show
  std::string fingerprint{};  ///< its fingerprint
  std::string finished{};     ///< when it was complete; pruning may remove the run
  std::string form{};         ///< which figures and which file of every point
  std::string inputs{none};   ///< digest of what the run was made from; none: not known
  std::string source{};       ///< source_state()
  std::string points{};       ///< points_state()
  std::string files{};        ///< files_state()
  static constexpr std::string_view none = "none";
};

/// True if the folder has reports, so that files in it are this program's.
bool has_report(const std::filesystem::path& folder);
/// The mark of the reports in `folder`; none: there is none, or something follows it.
std::optional<ReportMark> mark_of(const std::filesystem::path& folder);
/// Writes README.md with `text` and the mark's line.
void write_readme(const std::filesystem::path& folder, const std::string& text,
                  const ReportMark& mark);

/// State of the program and of a database, with what sqlite has not moved into it yet. Empty where
/// the system does not show the program's file.
std::string source_state(const std::filesystem::path& database);
/// State of the file of every point; none: there is no such file.
std::string points_state(const std::filesystem::path& folder, CsvFile csv);
/// State of all files in `folder`, and README.md's `text` before its mark.
std::string files_state(const std::filesystem::path& folder, std::string_view text);

/// True if program and database are as they were when the reports were written.
bool source_is_as_marked(const ReportMark& mark, const std::filesystem::path& database);
/// True if every file of the reports is as it was.
bool files_are_as_marked(const ReportMark& mark, const std::filesystem::path& folder);
/// For a database that has changed without an effect on the reports: marks its state of now.
void mark_source(const std::filesystem::path& folder, const std::filesystem::path& database);

}  // namespace headroom::report
