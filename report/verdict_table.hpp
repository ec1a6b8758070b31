// Points of a run by machine, runtime and verdict.
#pragma once

#include "report/reports.hpp"
#include "report/table.hpp"

namespace headroom::report {

/// Columns machine, runtime, verdict and points, sorted. Large runs are read by all threads. Throws
/// as Database::for_each() does.
Table verdict_table(const Source& source);

}  // namespace headroom::report
