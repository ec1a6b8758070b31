// Reads runs back: for reports, which know nothing but the database.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/columns.hpp"
#include "report/extent.hpp"
#include "report/run_info.hpp"
#include "report/store.hpp"
#include "report/table.hpp"

namespace headroom::report {

struct RunSummary {
  std::int64_t id = 0;
  std::string name, version, fingerprint, started;
  std::string finished;              ///< empty: incomplete
  Size points = 0;                   ///< stored
  Size reused = 0;                   ///< points in rows of an earlier run
  Size next = 0;                     ///< the first point that is not done
  Size first = 0, end = 0, all = 0;  ///< its points, and those of the whole grid: a shard has fewer

  bool complete() const { return !finished.empty() && first == 0 && end == all; }
};

/// A database opened read-only. Errors as of Store (StoreError).
class Database {
 public:
  explicit Database(std::filesystem::path file);
  ~Database();
  Database(Database&&) noexcept;

  const std::filesystem::path& file() const;
  std::vector<RunSummary> runs() const;  ///< oldest first
  /// The latest complete run that is no shard. Throws StoreError where there is none.
  std::int64_t latest_run() const;
  /// Throws StoreError for an unknown id.
  RunSummary summary(std::int64_t id) const;
  /// Spec, fingerprint and grids with all axis values. Throws StoreError for an unknown id.
  const RunInfo& run(std::int64_t id) const;

  /// Extents of the rows of a run, in ascending order of its points.
  const std::vector<Extent>& extents(std::int64_t run) const;

  /// The stored points among `points` from `first` on, in ascending order.
  void read(std::int64_t run, Size first, Size points,
            const std::function<void(Size point, const model::Estimate&)>& visit) const;
  /// Every stored point of a run in ascending order, in bounded memory. Throws StoreError where
  /// rows are missing.
  void for_each(std::int64_t run,
                const std::function<void(Size point, const model::Estimate&)>& visit) const;

  /// Throws StoreError unless `seen` is the number of points that the run should have.
  void check_points(std::int64_t run, Size seen) const;

  /// The outcome of one point; none where it was excluded.
  std::optional<model::Estimate> find(std::int64_t run, Size point) const;

  /// Longest context that fits, in tokens per sequence, by point: of those that tables show.
  std::map<Size, Size> longest_contexts(std::int64_t run) const;

  /// The verdicts of stored points among `points` from `first` on, in ascending order.
  void for_each_verdict(std::int64_t run, Size first, Size points,
                        const std::function<void(Size point, model::Verdict)>& visit) const;

  /// While it lives, all reads see one state of the file and none has to lock it. A writer may have
  /// to wait.
  class Snapshot {
   public:
    explicit Snapshot(const Database& database);
    ~Snapshot();
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;

   private:
    const Database* database_;
  };

  /// Any query over the views. `:run`, where it occurs, is bound to `run`. Throws StoreError with
  /// sqlite's message.
  Table query(const std::string& sql, std::int64_t run) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

/// Reads all of `file`. Throws StoreError where sqlite finds it damaged (PRAGMA quick_check).
void require_sound(const std::filesystem::path& file);

}  // namespace headroom::report
