// The tables of an accuracy report, as rows of text.
#pragma once

#include <string>
#include <vector>

#include "sweep/accuracy/accuracy.hpp"

namespace headroom::sweep {

using Rows = std::vector<std::vector<std::string>>;

extern const std::vector<std::string> group_headings, label_headings;

std::string file_name(const std::string& path);
std::string markdown(const std::vector<std::string>& headings, const Rows& rows);

/// "5733 rows, 4491 eligible, 4471 scored".
std::string totals(const Accuracy& accuracy);
/// One line a group, under group_headings.
Rows group_rows(const Accuracy& accuracy);
/// One line a group, under the first seven of group_headings.
Rows left_out_rows(const std::vector<Score>& left_out);
/// One line a group, under label_headings.
Rows label_rows(const Accuracy& accuracy);
/// Labels with a wrong expected answer.
Rows wrong_labels(const Accuracy& accuracy);
/// Shares of sources with half of their rows, and all, inside the interval.
Rows covered_sources(const std::vector<Score>& scores);
/// One line a group and source or engine, as left_out_rows with that name in the second column.
Rows by_source(const std::vector<Score>& scores);
Rows by_engine(const std::vector<Score>& scores);
/// The largest errors of each group.
Rows worst_rows(const Accuracy& accuracy);
/// Number of rows that are not scored, by reason and file or detail.
Rows unscored_by_file(const Accuracy& accuracy);
Rows unscored_by_detail(const Accuracy& accuracy);

}  // namespace headroom::sweep
