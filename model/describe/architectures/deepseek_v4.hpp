// Parts of DeepSeek-V4 that DeepSeek-V4.1 shares, and modules that predict further tokens.
#pragma once

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::deepseek_v4 {

/// Module `number` ("mtp.0"): its tensors with stacked experts. It shares embedding and head with
/// the model.
Part predictor(const Config& config, Size number);

/// Module `number` of a checkpoint with DSpark: all modules draft tokens in one pass.
Part dspark_predictor(const Config& config, Size number);

struct DeepSeekSizes {
  Size hidden, vocab, heads, dim, rank, groups, out, index_heads, index_dim, rotated;
};
DeepSeekSizes sizes_of(const Config& c);
/// Bytes of a cached entry in FP8.
Size fp8_entry_bytes(const DeepSeekSizes& s);
/// Tokens of a page of compressed entries. Source: vLLM 0.33 models/deepseek_v4/sparse_mla.py.
inline constexpr Size compressed_page = 256;
/// Cache of keys and scores of `width` elements each, for the last `tokens` tokens.
Cache waiting(Size tokens, Size width);

/// Attention over the last sliding_window tokens.
/// `sm100_entry_bytes`: as Cache's.
Part window_attention(const Config& c, Classes k, const DeepSeekSizes& s, Size page_tokens,
                      Size sm100_entry_bytes = 0);
/// The router's matrix and score function.
Part scores(const Config& c, const DeepSeekSizes& s, Size experts);
/// The child `mlp`: `gate`, routed experts and shared experts.
Part mixture_of(const Config& c, Classes k, const DeepSeekSizes& s, Routing r, Part gate);
/// Mixes the residual streams before attention and before the experts.
Part connections(Classes k, Size hidden, Size streams);
/// DSpark's projection of the outputs of layers.
Part dspark_input(const Config& c, Classes k, Size hidden);
/// DSpark's final norm, Markov head and confidence head.
Part dspark_heads(const Config& c, Classes k, const DeepSeekSizes& s);
/// Sizes of the vision tower and of the aligner after it.
struct VisionSizes {
  Size layers, width, inner, patch, side;  ///< side: patches along the edge of a token
};
/// The tower of patches and the aligner, as children `vision` and `aligner` of the root.
Part vision_parts(const VisionSizes& v, Size hidden);

}  // namespace headroom::model::families::deepseek_v4

namespace headroom::model::families::deepseek_v41 {

/// DSpark: a layer of DeepSeek-V4.1 that drafts tokens.
Part predictor(const Config& config, Size number);

}  // namespace headroom::model::families::deepseek_v41
