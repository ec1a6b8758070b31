// A run's best ways as OpenMetrics text, for Prometheus and other collectors of metrics.
#pragma once

#include <ostream>

#include "report/reports.hpp"

namespace headroom::report {

/// Gauges of the best way (report/way_rows.hpp) of each model on each machine, in base units.
/// Figures of a way that does not run are left out. The text is of version 1.0:
/// https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md, read
/// 2026-11-27.
void write_open_metrics(std::ostream& out, const Source& source);

}  // namespace headroom::report
