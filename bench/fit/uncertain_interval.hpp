// The interval of the memory that follows from no shapes.
#pragma once

#include <optional>
#include <vector>

#include "model/engine/constant.hpp"
#include "sweep/accuracy/scored_row.hpp"

namespace headroom::sweep {

/// The 8th and 92nd percentile of measured / expected uncertain part. Sources count alike, whatever
/// the number of their rows: those of one source err alike.
/// `rows` are numbers of `subjects`; `expected` has a figure for each subject that has one.
model::Constant uncertain_interval(const std::vector<ScoredRow>& subjects,
                                   const std::vector<std::size_t>& rows,
                                   const std::vector<std::optional<double>>& expected);

}  // namespace headroom::sweep
