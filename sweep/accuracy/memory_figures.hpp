// Figures of memory that rows of measurements are compared with, but for those that an engine logs
// of its cache (sweep/accuracy/cache_figures.hpp).
#pragma once

#include "model/infer/placement/placement.hpp"
#include "sweep/accuracy/scored_row.hpp"

namespace headroom::sweep {

/// Bytes of the row's figure under `plan`.
double bytes_of(const ScoredRow& subject, const model::Scenario& scenario, const model::Plan& plan);
/// The part of that figure that follows from no shapes.
double work_of(const ScoredRow& subject, const model::Scenario& scenario, const model::Plan& plan);
/// True if a figure has such a part.
bool has_work(Statistic statistic);

}  // namespace headroom::sweep
