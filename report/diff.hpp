// Changes between two runs, point by point, with causes.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/infer/estimate.hpp"
#include "report/point_map.hpp"
#include "report/read.hpp"
#include "report/reports.hpp"

namespace headroom::report {

class Document;

/// An input that differs between the runs.
struct InputChange {
  std::string cause;  ///< "model metadata", "hardware", "factors", "program version",
                      ///< "spec: batch"
  std::string what;   ///< "rtx-4090 @ desktop-ddr5-64gb", "0.1.0+… → 0.2.0+…"
  std::string how;    ///< "changed", "new", "gone"
};

/// A point that differs between the runs.
struct PointChange {
  std::optional<Size> before{}, after{};  ///< its number in each run; none: it is not there
  std::optional<model::Estimate> old{}, now{};
  std::string cause{};   ///< "hardware; program version", "spec: batch 64"
  bool verdict = false;  ///< verdict, how sure it is, or the number of GPUs differs
  double largest = 0;    ///< largest change of a number, as a share; 0: none beyond the threshold
  std::string_view column{};  ///< the one that changed most
};

inline constexpr double usual_threshold = 0.01;

/// The numbers that are compared.
std::span<const std::string_view> compared_columns();

class Diff {
 public:
  /// `before` and `after` are complete runs of the database. Throws StoreError.
  Diff(const Database& database, std::int64_t before, std::int64_t after,
       double threshold = usual_threshold);

  struct Counts {
    Size same = 0, verdicts = 0, numbers = 0, below = 0, added = 0, removed = 0;
  };
  /// Calls `changed` for every point that differs beyond the threshold, came or went, in the order
  /// of the later run, those that went last. Rows that both runs share are not read. Bounded
  /// memory.
  Counts for_each(const std::function<void(const PointChange&)>& changed) const;
  /// Every point of both runs, the unchanged ones too.
  void for_each_pair(const std::function<void(const PointChange&)>& visit) const;

  std::vector<InputChange> inputs() const;
  const Source& before() const { return *before_; }
  const Source& after() const { return *after_; }
  /// Values of axes, facts and outcomes; text lives as long as the change.
  Cell value(const Column& column, const PointChange& change, bool now) const;

 private:
  enum class SharedRows { skip, visit };
  /// Returns how many rows of the later run were read.
  Size walk(SharedRows shared, const std::function<void(PointChange&)>& visit) const;
  void judge(PointChange& change) const;
  std::string cause(const PointChange& change) const;
  std::string presence_cause(const Source& here, const Source& other, Size point) const;

  const Database* database_;
  double threshold_;
  std::unique_ptr<Source> before_, after_;
  std::unique_ptr<PointMap> back_, forth_;
};

/// Answers that changed, then those that only one run has. Rows: machine, runtime, model,
/// precision, before, after, cause.
Table decisions(const Diff& diff);

/// Decisions, inputs and counts, under headings of this level.
Document diff_summary(const Diff& diff, const Diff::Counts& counts, int level);
/// The summary, then the largest changes of each kind.
Document diff_document(const Diff& diff);
/// Every changed point with its axes, cause, and each compared number before and after.
void write_diff_csv(std::ostream& out, const Diff& diff);

}  // namespace headroom::report
