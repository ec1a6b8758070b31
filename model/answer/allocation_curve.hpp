// Estimates of a model as each GPU gets more memory, from none to all: the tradeoff curve.
#pragma once

#include <optional>
#include <vector>

#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// Change of a point of a curve against the one before it.
enum class Jump : std::uint8_t {
  runs,             ///< it runs at all
  gpu_computes,     ///< a GPU computes, where the CPU alone did
  no_disk,          ///< nothing is read from disk in a step any more
  last_layer,       ///< every layer is on GPUs, experts too
  experts_on_host,  ///< every layer is on GPUs, but for experts that stay in host memory
  output_on_gpus,   ///< and the output layer
  more_gpus,        ///< layers reach one GPU more
  fewer_gpus,       ///< fewer GPUs hold it
  slower,           ///< none of these, and yet fewer tokens a second
};

struct AllocationPoint {
  Bytes allocation;  ///< budget of each GPU; a smaller GPU has no more than its memory
  Estimate estimate;
  Plan plan;
  std::vector<Jump> jumps;
  /// Tokens/s gained over the last point that runs, per GiB on each GPU; none: the first that runs.
  std::optional<double> gain;
};

/// Budgets from 0 to all that `scenario` allows on its largest card, ascending, by `step` bytes.
/// Without a step they are the whole MiB at which a layer, the embedding or the output moves.
/// Estimates do not change between them. Throws std::invalid_argument for a machine without cards,
/// and for more than 100,000 steps.
std::vector<Bytes> allocations(const Scenario& scenario, std::optional<Bytes> step);

/// The estimate of `scenario` under each of `budgets`, as `evaluate` gives it.
std::vector<AllocationPoint> allocation_curve(const Scenario& scenario,
                                              const std::vector<Bytes>& budgets);

bool runs(const AllocationPoint& point);

}  // namespace headroom::model
