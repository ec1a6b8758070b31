// Blocks that the sparse and the hybrid Qwen models share. They are mixtures with one gated shared
// expert, attention with an output gate, and gated delta nets (Qwen3-Next; arXiv:2412.06464).
#pragma once

#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model {

/// A mixture of `num_experts`; `<family>SparseMoeBlock` with the shared expert, else without.
Part qwen_mixture(const Config& c, Classes k);
/// The expert that every token uses. A sigmoid gate of its own scales it.
Part qwen_shared_expert(const Config& c, Classes k);

/// True if layer `i` is a mixture: every decoder_sparse_step-th layer, except mlp_only_layers.
bool qwen_is_sparse(const Config& c, Size i);
/// The feed-forward of layer `i`: `mixture` if the layer is sparse, else dense.
Part qwen_feed_forward(const Config& c, Classes k, Size i, const Part& mixture);

/// Attention whose query projection also yields a gate on the output.
Part gated_attention(Size hidden, Heads h, std::string_view norm_class, Bias bias);

/// Gated delta net with the projections `inputs`, which follow the convolution (`Inputs::first`) or
/// the output projection.
enum class Inputs { first, last };
Part gated_delta_net(Size hidden, const DeltaNet& d, std::string_view norm_class, Part inputs,
                     Inputs order);

/// True if layer `i` is full attention: by `layer_types`, else every full_attention_interval-th.
bool is_full_attention(const Config& c, Size i);

/// Children of the text model of Qwen3.5, dense or sparse: `k` is "Qwen3_5" or "Qwen3_5Moe".
/// Source: transformers 5.23, models/qwen3_5 and models/qwen3_5_moe.
Part qwen3_5_text_model(const Config& text, Classes k);

}  // namespace headroom::model
