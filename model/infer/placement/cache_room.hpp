// Size of the KV cache if the engine reserves its share of a card and gives the cache the rest
// after weights and working memory.
#pragma once

#include <optional>

#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// Figures of the card with the least room, as the engine logs them.
///
///   available = budget - weights - working memory - context - fragmentation
///
/// If weights and caches have their own share (model/infer/memory/static_share.hpp), that share
/// without the weights, if it is less.
///
///   left = memory - available - weights - context - fragmentation of the weights
///          - buffers that stay and CUDA graphs (workspace)
///   blocks = floor(available / bytes of one block of every layer on the card)
///   sequences = blocks / blocks of one sequence at the context
///
/// If recurrent states have bytes of their own (has_state_pool), blocks have the other bytes.
/// Sequences are then at most those that have slots for their states.
///
///   tokens = floor(sequences * context)
///
/// Source: vLLM 0.19 v1/core/kv_cache_utils.py get_num_blocks,
/// get_max_concurrency_for_kv_cache_config, estimate_max_model_len. Left out: pages of layers whose
/// tokens differ in size.
struct CacheRoom {
  Bytes available;     ///< negative: weights and working memory alone exceed the budget
  Bytes uncertain;     ///< part of what the budget has besides it (uncertain_part)
  Bytes left;          ///< free on the card when the engine is ready, without a request
  Bytes one_sequence;  ///< bytes of one sequence at the scenario's context, on that card
  Size block = 0;      ///< tokens
  Size blocks = 0;
  double sequences = 0;  ///< sequences of this context that fit together, on each replica
  Size tokens = 0;       ///< tokens of all sequences, on each replica
  Size longest = 0;      ///< context of one sequence alone
};

/// None where the runtime takes only what it needs, nothing runs on cards, or a model keeps nothing
/// that grows with the context.
std::optional<CacheRoom> cache_room(const Scenario& scenario, const Plan& plan);

/// Bytes of a block of every layer on `card`, if the engine needs one for the recurrent states of
/// each sequence that it may run. 0: it does not. Depends neither on sizes nor on budgets. Source:
/// vLLM 0.33 config/compilation.py resolve_cudagraph_mode_and_sizes.
Bytes state_block(const Scenario& scenario, const Plan& plan, Size card);

/// Bytes of cache without which the engine refuses its number of sequences. 0: it refuses none, or
/// it ran with a number that is not known.
Bytes pages_of_states(const Uses& uses, Size card);

}  // namespace headroom::model
