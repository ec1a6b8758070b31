// Estimates against measurements: what is scored, what is not and why, and how far off each group
// is. A plain baseline on the same rows is the reference.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/accuracy/scored_row.hpp"

namespace headroom::sweep {

/// One measurement with its estimate, in bytes or seconds.
struct Score {
  const Measurement* row = nullptr;
  std::string group;
  std::string runtime;
  double measured = 0, expected = 0, low = 0, high = 0;
  double plain = 0;  ///< the baseline before its one efficiency is fitted
  double error() const { return expected / measured - 1; }
  bool covered() const { return low <= measured && measured <= high; }
};

/// One answer to "does it fit?" against what happened.
struct Label {
  const Measurement* row = nullptr;
  std::string group;  ///< fit_verdict, or training_verdict of a training step
  std::string runtime;
  bool fitted = false;    ///< the measured outcome
  bool expected = false;  ///< the estimated outcome
  bool sure = false;      ///< it says so at both ends of its interval
  double load = 0;        ///< memory needed, as a share of the budget of the cards together
  bool near() const { return load > 0.85 && load < 1.15; }
};

/// A measurement that has no score.
struct Unscored {
  const Measurement* row = nullptr;
  bool eligible = false;  ///< no reason of the closed list: the program could not estimate it
  std::string reason, detail;
};

/// Errors of one group, as shares; quantiles interpolate between ranks.
struct GroupFigures {
  std::string name;
  int n = 0;
  double median = 0, p90 = 0;  ///< quantiles of |expected / measured - 1|
  double bias = 0;             ///< median of expected / measured - 1
  double coverage = 0;         ///< share of measurements within their interval
  double interval_width = 0;   ///< median of (high - low) / expected
  double plain_median = 0, plain_p90 = 0;
};
struct LabelFigures {
  std::string name;
  int n = 0;
  double wrong_sure = 0, marginal = 0;  ///< shares of all
  double precision = 0, recall = 0;     ///< precision and recall of "fits", by the expected answer
  double plain_precision = 0, plain_recall = 0;
};

/// Every score anew, by constants that its set-up, its model, its source had no part in.
struct LeftOut {
  std::string_view column;  ///< column of the table of rows: without_set_up …
  std::string_view words;   ///< the rows left out and the rows of the fit
  std::vector<Score> scores;
};

/// Errors of every group, in the order of group_names().
std::vector<GroupFigures> groups_of(const std::vector<Score>& scores);

struct Accuracy {
  std::vector<Measurement> rows;
  std::vector<Score> scores;
  std::vector<Label> labels;
  std::vector<Unscored> unscored;
  std::vector<LeftOut> left_out;  ///< empty unless asked for

  std::vector<GroupFigures> groups() const;
  std::vector<LabelFigures> label_groups() const;
  int eligible() const;
  std::size_t scored() const { return scores.size() + labels.size(); }
};

/// Those of one group, in their order.
std::vector<const Score*> members_of(std::string_view group, const std::vector<Score>& scores);

/// The baseline of a group of times is every row's plain roofline divided by one efficiency, the
/// median of the group. The baseline of memory is weights and caches, with nothing fitted.
GroupFigures figures_of(std::string name, const std::vector<const Score*>& scores);
LabelFigures figures_of(std::string name, const std::vector<const Label*>& labels);

/// Nothing where the program cannot estimate it; `why` says why then.
std::optional<Score> score_of(const ScoredRow& subject, std::string* why = nullptr);

/// Scores every record of `files`. Throws what read_measurements and ModelNames throw.
Accuracy score(const std::vector<std::string>& files, const std::string& models_folder);

/// Names of the groups in the order in which reports list them.
std::span<const std::string_view> group_names();
/// Unit of a group's values.
enum class GroupUnit { seconds, bytes, requests, tokens };
GroupUnit unit_of(std::string_view group);

}  // namespace headroom::sweep
