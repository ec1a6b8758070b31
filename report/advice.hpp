// Advice for a model on a machine, from the other rows of the grid.
#pragma once

#include <span>
#include <string>

#include "report/selection.hpp"

namespace headroom::report {

/// `from`: a line; `here`: the lines of its model and machine; `all`: the lines of its model on
/// every machine. Empty if it is on GPUs already, or
/// * "fewer GPUs: 70.0 tokens/s on 2x l4-24gb @ …": fewer of these cards serve more;
/// else one or more of these, joined by "; ":
/// * "int8: 131.42 → 65.74 GiB, fits on 2 GPUs": the widest precision that is on GPUs, else a
///   better one;
/// * "more GPUs: 4x a100-sxm-40gb @ … (bf16 …)": the smallest other machine of the run that holds
///   it;
/// * "more GPUs: at least 4 like these": a lower bound, from the bytes alone;
/// * "more CPU memory: 12.3 GiB short";
/// * "skip this model here": no precision does better than disk offload.
std::string advice(const ModelRow& from, std::span<const ModelRow* const> here,
                   std::span<const ModelRow* const> all);

}  // namespace headroom::report
