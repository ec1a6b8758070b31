// The longest context that fits, computed only for points that tables show.
#pragma once

#include "report/read.hpp"
#include "report/store.hpp"
#include "sweep/run/reuse.hpp"
#include "sweep/spec/job.hpp"

namespace headroom::sweep {

/// For each line that a report of the run shows, the longest context at its roomiest budget, into
/// `store`. `database` reads the same file; the run is complete. `reuse`: contexts that the earlier
/// run has of the same points are taken from it; null: all are computed.
void keep_longest_contexts(const Job& job, const report::Database& database, report::Store& store,
                           const Reuse* reuse);

}  // namespace headroom::sweep
