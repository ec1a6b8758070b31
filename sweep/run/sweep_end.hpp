// How sweeps and merges end: shards, and the reports and the one line that follow a complete run.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "report/csv_file.hpp"
#include "report/reports.hpp"
#include "report/store.hpp"
#include "sweep/log.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// "3/16" of `points`: the K-th of N parts that differ by a point at most. Throws
/// std::invalid_argument.
report::Shard parse_shard(std::string_view text, Size points);
/// out/shards/3-of-16.sqlite.
std::filesystem::path shard_file(const std::filesystem::path& out, std::string_view shard);

struct Ending {
  Size from = 0;                 ///< the point that this command began at
  double seconds = 0;            ///< time of the points
  std::int64_t reused_from = 0;  ///< run; 0: none
  bool draw = true;
  report::CsvFile csv = report::CsvFile::plain;
  /// The database was as the folder's reports were written from it, before this command.
  bool rows_as_marked = false;
  std::string inputs{};            ///< digest of what the run is made from; empty: not known
  report::Source* read = nullptr;  ///< the run's data, where they are read already

  report::Figures figures() const { return draw ? report::Figures::draw : report::Figures::skip; }
};

/// --csv, else [report] csv of the run's spec, else plain. Throws UsageError.
report::CsvFile csv_of(const Options& options, const std::string& spec);

/// Closes the store and says what it holds.
int end_shard(report::Store store, const std::filesystem::path& file, const Ending& ending,
              const Log& log);
/// As above, and writes the reports into `folder`.
int end_run(report::Store store, const std::filesystem::path& file,
            const std::filesystem::path& folder, const Ending& ending, const Log& log);
/// For a run that repeats the one of `mark`, whose reports stay as they are. Marks the database as
/// it is now.
int end_unchanged(const report::RunSummary& run, const report::ReportMark& mark,
                  const std::filesystem::path& file, const std::filesystem::path& folder,
                  double seconds, const Log& log);

}  // namespace headroom::sweep
