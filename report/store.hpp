// Writes runs into an sqlite database: one narrow row a point, one transaction a block. The axes of
// a point follow from its number and are decoded by the views (`result`, `result_all`).
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "model/estimate.hpp"
#include "report/run_info.hpp"

namespace headroom::report {

/// The file cannot be opened, is not ours, or cannot be written. The message names the file, what
/// was found and what helps.
class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One writer of one database. Not for two threads at once; from one thread after another is fine.
class Store {
 public:
  /// Creates the file and its folder where they are missing. Throws StoreError: not a database, not
  /// one of this program, of another schema version, read-only, or being written by another
  /// process.
  explicit Store(std::filesystem::path file);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// Resumes the last run of the file if it is unfinished and has `info.fingerprint`, else begins a
  /// new one. Throws std::invalid_argument for an axis that is no column, is given twice, has no
  /// values or another length than the others of its digit.
  void begin_run(const RunInfo& info);

  std::int64_t run_id() const;
  /// The first point that is not yet done: 0 for a new run.
  Size next_point() const;
  /// Points stored in this run so far (excluded ones are not).
  Size stored_points() const;

  /// Stores a block in one transaction: estimates[i] is the outcome of point first_point + i.
  /// first_point must be next_point(). Throws StoreError (disk full, …): what was committed before
  /// stays.
  void append(Size first_point, std::span<const model::Estimate> estimates);
  /// The same where points were excluded: `points` ascending, all in [next_point(), end).
  /// Afterwards next_point() is `end`, also when nothing of the block was kept.
  void append(std::span<const Size> points, std::span<const model::Estimate> estimates, Size end);

  /// Keeps, for points that tables show, the longest context that fits: {point, tokens}.
  void keep_longest_contexts(std::span<const std::pair<Size, Size>> contexts);

  /// Marks the run complete, so that `result` shows it. Throws std::logic_error before the last
  /// point.
  void finish_run();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

/// What a stored point takes on disk, about, in bytes: for --dry-run.
double expected_bytes_per_point();

}  // namespace headroom::report
