// llama.cpp's tensor names for the modules of a description.
#pragma once

#include <span>
#include <string_view>

namespace headroom::model {

/// A module of a description and its names in llama.cpp. The module is given by the end of its
/// path, within a repeated layer or outside all layers. "|" separates alternatives, "+" joins
/// tensors. "/" takes as many elements of a tensor as the module has, after those that others took
/// (fused queries, keys and values). "^" names a tensor outside layers. The first alternative whose
/// tensors all exist for that layer applies. "=" marks values that are keys of the file (the shape
/// of xIELU), or that its converter multiplied into another tensor (Kimi K3's norms of residual
/// scores).
struct GgufModule {
  std::string_view end, gguf;
};

/// Names of modules within a repeated layer, and outside all layers.
std::span<const GgufModule> gguf_block_names();
std::span<const GgufModule> gguf_outer_names();

/// The row of a module within a repeated layer, or outside all layers: the one with the longest end
/// that `path` ends with, in whole words. Null if there is none.
const GgufModule* gguf_block_row(std::string_view path);
const GgufModule* gguf_outer_row(std::string_view path);

}  // namespace headroom::model
