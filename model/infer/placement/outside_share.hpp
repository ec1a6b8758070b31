// Memory that an engine needs beside the share of a card that it was given.
#pragma once

#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// A `memory_factor` for the high end: what is surely enough.
inline constexpr double surely = 2;

/// Bytes that are missing beside the budget of a card; not above 0: there is room.
///
///   missing = outside + links (several cards divide matrices) + host (unified memory)
///             - (memory - budget)
///
/// `memory_factor` chooses the end of the interval of each: 1 the expected value, more than 1 the
/// high end, less the low one. Without CUDA graphs (enforce_eager) the low end of `outside` counts.
/// A budget in bytes is all of the process, with what is beside the share. Source: vLLM 0.33
/// v1/worker/utils.py request_memory; MemoryPolicy::outside_bytes.
///
/// `activations` of the pass at start are free again while graphs are captured. At the low end
/// graphs beside the share lie there, and a later full pass may find too little. Source: vLLM 0.4
/// worker/worker.py, 0.19 v1/worker/gpu_worker.py, `torch.cuda.empty_cache()` before the cache.
Bytes missing_beside(const Scenario& scenario, const Plan& plan, Limits of, Bytes activations,
                     double memory_factor);

/// The most of a card with `memory` bytes that the engine can be given as its share. It starts
/// surely with a `memory_factor` beyond 1, and is expected to at 1.
Bytes largest_share(const Scenario& scenario, Bytes memory, double memory_factor);

/// The largest share of a card, in hundredths, beside which enough is surely left; 0: the
/// scenario's own is such a one.
double share_that_starts(const Scenario& scenario, const Plan& plan);

}  // namespace headroom::model
