// Memory of an engine besides weights and KV cache.
#pragma once

#include <string_view>
#include <vector>

#include "hardware/units.hpp"
#include "model/engine/constant.hpp"

namespace headroom::model {

/// Tables of cosines and sines of every position, in 16 bit.
enum class Rotary {
  computed,  ///< no table: computed where it is needed
  shared,    ///< one table of half the head's width, for all layers
  each,      ///< a table of the whole head's width in every layer
};

/// Positions of a prompt for which prefill computes logits.
enum class Positions { last, all };

/// The profiling pass at start. Its peak decides how much memory stays free, whatever is asked
/// later: so many tokens, then sampling for so many sequences.
struct StartPass {
  Size sequences = 0;                                ///< 0: there is no such pass
  Size tokens = 0;                                   ///< 0: one whole context
  Size sequences_on_large = 0, tokens_on_large = 0;  ///< on cards of 70 GiB or more
  Size tokens_on_largest = 0;     ///< on cards of 160 GiB or more; 0: as on large
  bool unified_is_small = false;  ///< a GB10 (compute capability 12.1) has the sizes of small cards
  bool spreads_video = false;     ///< embeddings of the longest video have a row for each token
  bool counts_host = false;       ///< the process counts too, where card and host have one memory
  Size min_tokens = 0;
  Size sampling_bytes = 0;  ///< bytes of one logit with its copies while tokens are drawn
};

/// Sizes that an engine takes by a card's memory, and what it leaves to the work of a pass there.
struct CardReserve {
  Bytes from;                    ///< on cards with this much memory
  Size chunk = 0;                ///< tokens of a prefill pass; 0: ServingPolicy::prefill_chunk
  Size graph_batch = 0;          ///< the largest decode batch that is captured as a CUDA graph
  Size graph_batch_of_four = 0;  ///< likewise, where four cards or more divide each matrix
  Bytes bytes;                   ///< left free
  Bytes each_card;               ///< in addition, for each of the cards of a replica
  Bytes at_least;                ///< the whole reserve at least
  /// The largest such batch where so many cards divide a matrix.
  Size graph_batch_on(Size cards) const { return cards < 4 ? graph_batch : graph_batch_of_four; }
  std::vector<double> shares;  ///< in place of a reserve: the share itself where 1, 2, 4, 8, ...
                               ///< cards make a replica
};

/// An engine that gives weights and caches together a share of what is free at start, and leaves
/// the rest to activations and CUDA graphs. model/infer/memory/static_share.hpp has the formula.
struct StaticPool {
  std::vector<CardReserve> reserve;  ///< by rising memory; empty: the engine has no such share
  Size token_bytes = 0;              ///< reserve for each token of a prefill pass
  Size sequence_bytes = 0;           ///< for each sequence of the largest captured decode batch
  Size replica_bytes = 0;            ///< for each such sequence and replica of the attention
  Size graph_bytes = 0;              ///< for each captured size of a prefill pass
  Size latent_graph_bytes = 0;       ///< for all of them, if the cache keeps latents (MLA)
  bool graphs_with_drafts = true;    ///< prefill passes are captured with proposed tokens too
  Size draft_model_bytes = 0;        ///< for a draft model
  Size draft_head_bytes = 0;         ///< for modules or a head that propose tokens
  double vision_share = 1;           ///< factor on the share with a vision tower
  bool vision_by_size = false;       ///< and less for a large tower
  double long_context_share = 1;     ///< factor on AMD cards with a context beyond 8192
  double state_ratio = 0;            ///< bytes for recurrent states by bytes for keys and values;
                                     ///< 0: both take what they need
  Size state_slots = 1;              ///< with a ratio: slots that each sequence has for its states
};

struct MemoryPolicy {
  double utilization;  ///< share of a card's memory used when no budget is given
  StaticPool pool;     ///< within that, the share of weights and caches
  /// True if a start takes memory whether it is needed or not.
  bool sets_aside() const { return utilization < 1 || !pool.reserve.empty(); }
  Size margin_bytes;    ///< left free on each card when no budget is given
  double margin_share;  ///< left free likewise, as a share of the card
  bool leaves_margin() const { return margin_bytes > 0 || margin_share > 0; }
  StartPass start_pass;    ///< decides what is kept free, in place of the prompts asked for
  double residual_copies;  ///< copies of every token's hidden state
  double widest_share;     ///< share of gate, up and their product in memory
  bool graph;              ///< one allocator plans a whole pass: GraphWidth, not widest_share
  Size activation_bytes;   ///< bytes of an activation; 0: as many as the arithmetic has
  Size score_bytes;        ///< bytes of one attention score with its copies, where it is in memory
  Size mask_bytes;  ///< bytes of an element of the attention mask, twice as many where scores
                    ///< are in memory; 0: there is no mask in memory
  /// Makers of cards whose attention copies a layer's keys and values to 16 bit, if they are
  /// stored otherwise.
  std::vector<std::string_view> cache_copies;
  Positions logits;        ///< positions whose logits prefill computes
  Size logits_bytes;       ///< bytes of one logit with its copies
  Size returned_bytes;     ///< part of logits_bytes that is copied to the first card
  Rotary rotary;           ///< tables of cosines and sines
  Constant context_bytes;  ///< driver context and libraries on each card
  /// Bytes of it for each resident thread that a card has beyond usual_threads
  /// (model/infer/memory/driver_context.hpp).
  Constant context_thread_bytes;
  Constant communication_bytes;  ///< on each of several cards that divide matrices over links
  /// Memory beside the engine's share of a card: the driver's context where the share leaves it
  /// out, and CUDA graphs captured after the cache. `outside_links_bytes`: in addition on each of
  /// several cards. `host_of_unified_bytes`: the host's part of memory that it and the card share.
  Constant outside_bytes, outside_links_bytes, host_of_unified_bytes;
  Constant workspace_bytes;    ///< buffers of matrix libraries in the allocator's count
  Constant host_bytes;         ///< the process itself in host memory
  Constant graph_bytes;        ///< the first CUDA graph, where the engine's share of the card has
                               ///< graphs
  Constant graph_layer_bytes;  ///< each further graph, for each layer
  Constant fragmentation;      ///< share of a card's allocations that the allocator adds
  Constant interval;           ///< 80 % interval as a factor on the uncertain part of the memory
                               ///< (model/infer/placement/placement.hpp, uncertain_part)
};

}  // namespace headroom::model
