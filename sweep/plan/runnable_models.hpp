// Catalogue models that a machine can run: `curve --all` and `plan` without a question.
#pragma once

#include <optional>

#include "hardware/units.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// Slower models are left out of the list.
struct SlowestAccepted {
  std::optional<Seconds> ttft, tpot;  ///< times of one request
};

/// Prints every generative model in its best way (sweep/best_way.hpp), ranked: on GPUs, with
/// offload, then by parameters. It also prints the largest model that runs on GPUs and the largest
/// that QLoRA trains on one. For this computer it uses the memory that is free now. Throws
/// UsageError without a machine.
int runnable_models(const Options& options, const SlowestAccepted& slowest = {});

}  // namespace headroom::sweep
