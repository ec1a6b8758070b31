// Inputs that an estimate needs beyond a row's columns, which depend on the placement of weights
// and caches.
#pragma once

#include "model/infer/estimate.hpp"
#include "sweep/accuracy/scored_row.hpp"

namespace headroom::sweep {

/// Throws Skipped if the time depends on a fact that the row does not state. Such facts are speeds
/// of the host and the number of layers on the cards.
void require_what_time_depends_on(const ScoredRow& subject);
/// Throws Skipped where the load time depends on a disk that the row does not name, or where no
/// weight is read.
void require_what_loading_depends_on(const ScoredRow& subject);
/// Throws Skipped where the row has more bytes on its cards than these have.
void require_capacity(const ScoredRow& subject, double bytes);

bool is_of_loading(Statistic statistic);

}  // namespace headroom::sweep
