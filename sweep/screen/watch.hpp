// How to see on the machine itself whether an estimate was right.
#pragma once

#include <string>
#include <vector>

#include "model/answer/explain.hpp"
#include "model/infer/estimate.hpp"

namespace headroom::sweep {

/// Commands that show the memory of the scenario's machine while it runs, and the estimate's figure
/// to compare. The makers of its cards decide the tool. Without a tool or without cards, only host
/// memory is shown. An engine that reserves its share of a card at start has its KV cache in its
/// log, because the tools show only the share. If a card's memory is the host's, the process is
/// watched. Source: the tools' own documentation (nvidia-smi --help-query-gpu; rocm-smi --help;
/// macOS, footprint(1); PyTorch's torch.cuda.max_memory_allocated, torch.xpu, torch.mps); vLLM 0.19
/// v1/core/kv_cache_utils.py, SGLang managers/scheduler.py, TensorRT-LLM kvCacheManager.cpp.
std::vector<std::string> watch_lines(const model::Scenario& scenario,
                                     const model::Explanation& explained);

}  // namespace headroom::sweep
