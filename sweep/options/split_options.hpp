// Placement of layers by options: llama.cpp's options, and vLLM's share in host memory.
#pragma once

#include <memory>

#include "model/infer/scenario/layer_split.hpp"
#include "sweep/options/options.hpp"

namespace headroom::model {
struct Scenario;
}

namespace headroom::sweep {

/// Every flag that this file reads.
#define HEADROOM_SPLIT_FLAGS                                                                     \
  "gpu-layers tensor-split main-gpu split-mode no-kv-offload cpu-moe n-cpu-moe override-tensor " \
  "cpu-offload-gb"

/// The split that the options describe; null where none is given. `scenario` has its weights,
/// machine and runtime. Throws UsageError for what the runtime does not know, what the machine does
/// not have, and what would have no effect.
std::unique_ptr<model::LayerSplit> layer_split_of(const Options& options,
                                                  const model::Scenario& scenario);

/// Those that are given, by name; the value of a switch is empty.
std::vector<std::pair<std::string, std::string>> given_splits(const Options& options);

/// Throws UsageError where one of them is given: there is no machine.
void refuse_splits(const Options& options);

/// Bytes of each card's weights that --cpu-offload-gb leaves in host memory; 0 where it is not
/// given. Throws UsageError as above.
Bytes cpu_offload_of(const Options& options, const model::Scenario& scenario);

}  // namespace headroom::sweep
