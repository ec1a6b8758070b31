// Changes between two runs, point by point, with causes.
#pragma once

#include <array>
#include <functional>
#include <map>
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
  std::string cause;  ///< "model metadata", "hardware", "factors", "price", "program version",
                      ///< "spec: batch"
  std::string what;   ///< "bandwidth of rtx-4090", "1x rtx-4090 @ desktop-ddr5-64gb"
  std::string how;    ///< "changed", "new", "gone"
  std::string before{},
      after{};         ///< "1008", "none"; both empty: a name whose tensors, say, changed
  std::string unit{};  ///< unit of both: "GB/s"
  bool operator==(const InputChange&) const = default;
};
/// "bandwidth of rtx-4090: 1008 → 1100 GB/s", "spec: batch new: 8".
std::string words_of(const InputChange& change);

/// A point that differs between the runs.
struct PointChange {
  std::optional<Size> before{}, after{};  ///< its number in each run; none: it is not there
  std::optional<model::Estimate> old{}, now{};
  std::string cause{};   ///< "bandwidth of rtx-4090: 1008 → 1100 GB/s; program version"
  bool verdict = false;  ///< verdict, how sure it is, or the number of GPUs differs
  double largest = 0;    ///< largest change of a number, as a share; 0: none beyond the threshold
  std::string_view column{};  ///< the one that changed most
};

inline constexpr double usual_threshold = 0.01;

/// The numbers that are compared.
std::span<const std::string_view> compared_columns();

/// Prices among the facts of a machine: no outcome depends on them.
std::span<const std::string_view> money_columns();

class Diff {
 public:
  /// `before` and `after` are complete runs of the database. Throws StoreError.
  Diff(const Database& database, std::int64_t before, std::int64_t after,
       double threshold = usual_threshold);
  /// Both sources are of one database.
  Diff(std::shared_ptr<const Source> before, std::shared_ptr<const Source> after,
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

  /// Facts of machines, models and engines, prices, axis values and the program, each change once.
  std::vector<InputChange> inputs() const;
  /// The machine of the later run that stands in place of one of the earlier run.
  const std::optional<ReplacedMachine>& replaced() const { return replaced_; }
  double threshold() const { return threshold_; }
  /// Why a point or a line of both runs differs; empty where no input of it has changed.
  std::string cause(Size before, Size after) const;
  const Source& before() const { return *before_; }
  const Source& after() const { return *after_; }
  /// Values of axes, facts and outcomes; text lives as long as the change.
  Cell value(const Column& column, const PointChange& change, bool now) const;

 private:
  Diff(const std::shared_ptr<const Source>& before, std::int64_t after, double threshold);
  enum class SharedRows { skip, visit };
  /// Returns how many rows of the later run were read.
  Size walk(SharedRows shared, const std::function<void(PointChange&)>& visit) const;
  void judge(PointChange& change) const;
  std::string cause(const PointChange& change) const;
  void find_causes();
  std::vector<InputChange> facts_changed(std::string_view column, std::string_view word) const;
  std::string presence_cause(const Source& here, const Source& other, Size point) const;

  const Database* database_;
  double threshold_;
  std::shared_ptr<const Source> before_, after_;
  std::optional<ReplacedMachine> replaced_;
  std::unique_ptr<PointMap> back_, forth_;
  /// Words for the difference of two contents of one name, by their fingerprints.
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> causes_;
};

/// The best way to run a model on a machine (report/way_rows.hpp) in each run.
struct BestWay {
  std::string model, machine;
  std::string machine_before{};  ///< other than `machine` where that stands in its place
  const ModelRow *before = nullptr, *after = nullptr;  ///< null: the run does not ask for it
  std::string cause{};                                 ///< empty: it does not differ

  /// By how much the output tokens a second changed, as a share; 0 where it does not run in both.
  double speed_change() const;
};
/// How a best way changed, the gravest first.
enum class WayChange { worse_verdict, better_verdict, other_way, speed, added, removed, none };
/// A speed counts from the threshold on. Ways that do not run differ in their verdict alone.
WayChange change_of(const BestWay& way, double threshold);

/// Columns of the best way of a model on a machine, for conditions: best_verdict, best_precision, …
std::span<const Column> best_way_columns();
/// The value of such a column, an axis or a fact for the way of one run. Text lives as long as the
/// diff. Empty where `row` is null.
Cell best_way_value(const Source& source, const ModelRow* row, const Column& column);
/// Texts that a column can have in either run; empty where any text is possible.
std::vector<std::string> known_texts(const Diff& diff, const Column& column);

/// Every pair of a model and a machine: those that differ first, by what changed.
std::vector<BestWay> best_ways(const Diff& diff);
/// Those that differ. Rows: model, machine, machine_before, then precision, runtime, tokens_s and
/// verdict of both runs, change, cause.
Table best_ways_table(const Diff& diff);

/// Ways whose answer changed, then those that only one run has. Rows: machine, runtime, model,
/// precision, before, after, cause.
Table decisions(const Diff& diff);

/// Decisions, inputs and counts, under headings of this level.
Document diff_summary(const Diff& diff, const Diff::Counts& counts, int level);
/// The summary, then the largest changes of each kind.
Document diff_document(const Diff& diff);
/// Every changed point with its axes, cause, and each compared number before and after.
void write_diff_csv(std::ostream& out, const Diff& diff);

}  // namespace headroom::report
