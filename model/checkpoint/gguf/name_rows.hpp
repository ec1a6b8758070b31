// What llama.cpp calls the tensors that a module of a description is stored as.
#pragma once

#include <span>
#include <string_view>

namespace headroom::model {

/// How a module is called in a description (by the end of its path, within a repeated block or
/// outside all), and what llama.cpp may call the tensors that it is stored as: the first
/// alternative ("|") of which the file has all tensors ("+") for that block. "=": values that are
/// keys of the file (the shape of xIELU).
struct GgufModule {
  std::string_view end, gguf;
};

/// Of modules within a repeated block; outside all.
std::span<const GgufModule> gguf_block_names();
std::span<const GgufModule> gguf_outer_names();

}  // namespace headroom::model
