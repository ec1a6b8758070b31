// A benchmark that sends a number of requests and stops when the last is answered.
#pragma once

#include <optional>

#include "model/infer/estimate.hpp"

namespace headroom::sweep {

/// Seconds of `requests` with at most `scenario.batch` at once, outputs exponentially distributed
/// about their mean m (vllm's benchmark_serving.py on ShareGPT: mean 200, the longest about 1000 of
/// 1000 requests). With B at once, of which exp(-t / m) are left t steps after the last has
/// started:
///
///   (requests - B) / B * m * step(B) + m * integral from 1 to B of step(n) / n dn
///     + requests * prompt
///
/// prompt: of one among as many as a pass holds. Nothing where not one sequence fits.
std::optional<double> run_seconds(const model::Scenario& scenario, Size requests);

}  // namespace headroom::sweep
