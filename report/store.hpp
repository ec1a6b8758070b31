// Writes runs into an sqlite database: one narrow row a point, one transaction a block. The axes of
// a point follow from its number and are decoded by the views (`result`, `result_all`).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "model/infer/estimate.hpp"
#include "report/extent.hpp"
#include "report/run_info.hpp"

namespace headroom::report {

/// The file cannot be opened, is not ours, or cannot be written. The message names the file, what
/// was found and what helps.
class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Says if an unfinished run of an equal fingerprint continues.
enum class Unfinished { resume, leave };

/// The points that a shard evaluates.
struct Shard {
  Size first = 0, end = 0;
};

/// One writer of one database. Only one thread may use it at a time.
class Store {
 public:
  /// Creates the file and its folder where they are missing. Throws StoreError: not a database, not
  /// one of this program, of another schema version, read-only, or being written by another
  /// process.
  explicit Store(std::filesystem::path file);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// Resumes the last run of the file if it is unfinished, has `info.fingerprint` and the same
  /// points, else begins a new one. `shard` none: all points. Throws std::invalid_argument for an
  /// axis that is no column, is given twice, has no values or another length than the others of its
  /// digit.
  void begin_run(const RunInfo& info, Unfinished unfinished = Unfinished::resume,
                 std::optional<Shard> shard = {});

  std::int64_t run_id() const;
  /// The first point that is not yet done: 0 for a new run, its first point for a shard.
  Size next_point() const;
  /// The end of the run: the number of points, or the end of its shard.
  Size end_point() const;
  /// Points of this run so far (excluded ones are not), and how many of them stand in an earlier
  /// run's rows.
  Size stored_points() const;
  Size reused_points() const;

  /// Stores a block in one transaction: estimates[i] is the outcome of point first_point + i.
  /// first_point must be next_point(). Throws StoreError (disk full, …): what was committed before
  /// stays.
  void append(Size first_point, std::span<const model::Estimate> estimates);
  /// Appends where points were excluded: `points` ascending, all in [next_point(), end).
  /// Afterwards next_point() is `end`, also when nothing of the block was kept.
  void append(std::span<const Size> points, std::span<const model::Estimate> estimates, Size end);
  /// Appends a block with some points in existing rows. `pieces` cover the block from next_point().
  /// `points` and `estimates` belong to the pieces without rows, and `reused` counts the rows of
  /// the others.
  void append(std::span<const RowRange> pieces, std::span<const Size> points,
              std::span<const model::Estimate> estimates, Size reused);

  /// Copies the rows of a complete run of another database, a shard that begins at next_point(), in
  /// one transaction; afterwards next_point() is its end.
  void adopt(const std::filesystem::path& database, std::int64_t run);

  /// Keeps, for points that tables show, the longest context that fits: {point, tokens}.
  void keep_longest_contexts(std::span<const std::pair<Size, Size>> contexts);
  /// Forgets what was kept for other points than these.
  void limit_longest_contexts_to(std::span<const Size> points);

  /// Marks the run complete, so that `result` shows it. Throws std::logic_error before the last
  /// point.
  void finish_run();

  /// Counts of what pruning kept and removed.
  struct Pruned {
    Size runs = 0, rows = 0, bytes = 0;  ///< removed; bytes of the file given back
  };
  /// Removes all but the last `keep` complete runs, and unfinished ones before the last run. Rows
  /// that a run that stays refers to stay. `keep` from 1.
  Pruned prune(Size keep);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

}  // namespace headroom::report
