// Engines that decide as another one does but for what their rows say.
#pragma once

#include <span>
#include <vector>

#include "model/runtime.hpp"

namespace headroom::model {

/// `base` (transformers, llama.cpp, vllm), then the engines derived from them.
std::vector<Runtime> with_engines(std::span<const Runtime> base);

}  // namespace headroom::model
