// Working memory of one forward pass at inference.
#pragma once

#include "model/estimate.hpp"

namespace headroom::model {

/// Tokens of the largest pass: the whole prompt of the batch, or the runtime's chunk of it.
Size pass_tokens(const Scenario& scenario);

/// Bytes live at the widest point of a pass over `pass_tokens` on one of `shards` cards that split
/// each matrix.
///
///   tokens * (2 * hidden + widest / shards) * element bytes
///
/// hidden: residual stream, held twice (the residual and its norm); widest: elements per token that
/// the widest submodule keeps beside it (gate, up and their product of a feed-forward). Source:
/// agrees with the measured rows of the Qwen memory tables when added to weights and KV cache.
/// Not counted: attention scores (flash or memory-efficient attention is assumed).
Bytes activations(const Scenario& scenario, Size shards);

/// Bytes of the logits that are sampled from: batch * vocabulary * bytes of a logit, one position a
/// sequence. Source: transformers generation/utils.py (last position only), vLLM and llama.cpp
/// alike.
Bytes logits(const Scenario& scenario, Size shards);

}  // namespace headroom::model
