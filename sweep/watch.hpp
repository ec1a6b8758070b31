// How to see on the machine itself whether an estimate was right.
#pragma once

#include <string>
#include <vector>

#include "hardware/machine.hpp"
#include "model/estimate.hpp"

namespace headroom::sweep {

/// Commands that show the memory of `machine` while it runs, and which figure of `estimate` to hold
/// beside what they show. By the makers of its cards; for cards of makers without a tool, and
/// without cards, the host's memory alone. Source: the tools' own documentation (nvidia-smi
/// --help-query-gpu; rocm-smi --help; PyTorch's torch.cuda.max_memory_allocated).
std::vector<std::string> watch_lines(const Machine& machine, const model::Runtime& runtime,
                                     const model::Estimate& estimate);

}  // namespace headroom::sweep
