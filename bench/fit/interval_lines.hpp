// Calibrates the 80 % intervals of each engine on errors at sources that are left out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/accuracy/scored_row.hpp"

namespace headroom::sweep {

/// Expected value of each subject, in bytes or seconds: by the fitted constants, and by constants
/// fitted without its source or its model. Empty without an estimate.
struct Expected {
  std::vector<std::optional<double>> fitted, without_source, without_model;
};

/// Lines of constants.tsv for the intervals of a family's generations.
///
/// The interval of memory is of its uncertain part (bench/fit/uncertain_interval.hpp). One of times
/// covers the 10th and 90th percentiles of
/// * the kind's rows as fitted, and by constants fitted without the row's source (without its
///   model if a kind has only one source);
/// * every engine's rows of the kind, by constants fitted without the row's source, if the family
///   has fewer than five sources. Few sources do not show how much sources differ.
///
/// The interval of load times has every engine's rows, because the disk and the processor decide
/// them. It also covers these percentiles where sources count alike, whatever the number of their
/// rows: most rows are of one machine.
///
/// Rows of fewer than ten machines are joined by those of the family's other generations. A kind
/// with fewer than three rows of the family has no line.
std::string interval_lines(const std::vector<ScoredRow>& subjects, const Expected& expected,
                           std::string_view family);

}  // namespace headroom::sweep
