// Options that say what must be served, how fast, and how requests come.
#pragma once

#include <string_view>

#include "model/infer/serving.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// Flags about the slowest requests, arrivals, and a demand that grows.
#define HEADROOM_TARGET_FLAGS                                                             \
  "max-ttft-p95 max-tpot-p95 max-e2e-p99 load-factor burstiness think-time active-share " \
  "growth months spares prompt-tokens-p95 output-tokens-p95"

/// Throws UsageError: a flag that needs another which is not there.
model::Target target_of(const Options& options, model::Target usual);

/// The 95th percentile that belongs to `flag` ("prompt-tokens"), its median where none is given.
/// Throws UsageError: below the median.
Size percentile_of(const Options& options, std::string_view flag, Size median);

/// Sets the 95th percentiles of lengths that are given. Throws UsageError: below the median, or
/// without effect on `target`.
void set_spread(const Options& options, const model::Target& target, model::Scenario& request);

}  // namespace headroom::sweep
