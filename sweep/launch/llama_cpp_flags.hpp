// llama.cpp's options for a placement.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/infer/placement/placement.hpp"

namespace headroom::sweep {

/// Option and value by which the routed experts of the layers in `moved` stay in host memory. None
/// for an empty range, --n-cpu-moe for the first layers, else --override-tensor.
/// Source: llama.cpp common/arg.cpp.
std::vector<std::pair<std::string, std::string>> host_expert_flags(const model::Model& model,
                                                                   model::Range moved);

/// As words of a command.
std::string host_expert_words(const model::Model& model, model::Range moved);

/// --override-tensor's value for the experts of `layers`, as GGUF files number them.
std::string experts_to_cpu(const std::vector<std::string>& layers);

}  // namespace headroom::sweep
