// A benchmark that sends a number of requests and stops when the last is answered.
#pragma once

#include <optional>

#include "model/infer/estimate.hpp"
#include "sweep/accuracy/measurement.hpp"

namespace headroom::sweep {

/// Seconds of `requests` with at most `scenario.batch` concurrent ones. Outputs are exponentially
/// distributed with mean m (vllm's benchmark_serving.py on ShareGPT: mean 200, the longest about
/// 1000 of 1000 requests). B requests run concurrently, and exp(-t / m) of them remain t steps
/// after the last has started:
///
///   (requests - B) / B * m * step(B) + m * integral from 1 to B of step(n) / n dn
///     + requests * prompt
///
/// prompt: seconds of one prompt in a full pass. Empty if not one sequence fits.
std::optional<double> run_seconds(const model::Scenario& scenario, Size requests);

/// Share of a run's requests that start together, before any is answered: `batch` of all in the
/// column `requests`. 0 of "steady": a median, which those do not move. Empty where neither is
/// stated.
std::optional<double> share_together(const Measurement& row, Size batch);

}  // namespace headroom::sweep
