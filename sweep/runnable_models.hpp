// Catalogue models that a machine can run: `curve --all` and `plan` without a question.
#pragma once

#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// The flags that it reads.
#define HEADROOM_RUNNABLE_MODELS_FLAGS \
  "precisions kv-precision batch prompt-tokens output-tokens context runtime top"

/// Prints the best precision of every generative model, ranked: on GPUs, with offload, then by
/// parameters. It also prints the largest model that runs on GPUs and the largest that QLoRA trains
/// on one. For this computer it uses the memory that is free now. Throws UsageError without a
/// machine.
int runnable_models(const Options& options);

}  // namespace headroom::sweep
