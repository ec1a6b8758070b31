// What a model remembers between tokens, in bytes, layer range by layer range.
#pragma once

#include "model/estimate.hpp"

namespace headroom::model {

/// Tokens in the caches of one sequence.
struct CachedTokens {
  Size self = 0;    ///< of the decoder's own sequence
  Size source = 0;  ///< of the encoder's output that cross-attention looks at
};

/// What the scenario reserves memory for: its context, handed out in the runtime's blocks.
CachedTokens reserved_tokens(const Scenario& scenario);

/// Bytes of key-value cache and recurrent state of layers [first, last), all sequences together.
///
///   batch * (sum over layers of stored(precision, per_token * min(context, window + slack)) +
///            state elements * state bytes)
///
/// context in tokens; window 0 meaning none, and none where the runtime does not cap it. MLA counts
/// its latent or the expanded K and V, as the runtime keeps it. Saturates below 2^62.
/// Source: Pope et al., arXiv:2211.05102; MLA: DeepSeek-V3, arXiv:2412.19437 section 2.1.
/// Not counted: index caches of sparse attention.
Bytes kv_cache(const Scenario& scenario, CachedTokens tokens, Size first, Size last);

/// Bytes that one decode step reads from the caches of layers [first, last): the window only, where
/// there is one, whatever is reserved.
double kv_read(const Scenario& scenario, CachedTokens tokens, Size first, Size last);

/// FLOPs of attention scores and their products with V over [first, last) for one new token of each
/// sequence: 2 * score_dims * min(tokens, window) * batch.
double decode_score_flops(const Scenario& scenario, CachedTokens tokens, Size first, Size last);

/// The same for a whole causal prompt: pairs of tokens no further apart than the window.
double prefill_score_flops(const Scenario& scenario, Size prompt, Size first, Size last);

}  // namespace headroom::model
