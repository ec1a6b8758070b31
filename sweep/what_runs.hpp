// What a machine can run, over the whole catalogue: `curve --all` and `plan` without a question.
#pragma once

#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// The flags that it reads.
#define HEADROOM_WHAT_RUNS_FLAGS \
  "precisions kv-precision batch prompt-tokens output-tokens context runtime top"

/// Prints, for every model that generates, the precision in which it runs best, ranked: on GPUs,
/// with offload, then by parameters; and the largest model that runs on GPUs, and that QLoRA
/// trains on one. Of this computer's memory what is free now. Throws UsageError without a machine.
int what_runs(const Options& options);

}  // namespace headroom::sweep
