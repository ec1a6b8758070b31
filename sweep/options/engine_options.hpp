// Options of an engine that change how fast it is: what it is built for and how it is started.
#pragma once

#include "sweep/factors.hpp"
#include "sweep/options/options.hpp"

namespace headroom::model {
struct Scenario;
}

namespace headroom::sweep {

/// Every flag that this file reads.
#define HEADROOM_ENGINE_FLAGS                                                  \
  "backend flash-attn threads no-mmap gpu-batches enforce-eager max-num-seqs " \
  "max-num-batched-tokens"

/// Sets max_sequences where --max-num-seqs is given. Throws UsageError if --runtime names an engine
/// without such an option.
void set_sequences(const Options& options, const Engines& engines, model::Scenario& scenario);

/// Puts all of them into `scenario`, which has its machine and runtime. Throws UsageError for what
/// the runtime does not know, what the machine cannot do, and what would have no effect.
void set_engine(const Options& options, const Engines& engines, bool on_machine,
                model::Scenario& scenario);

}  // namespace headroom::sweep
