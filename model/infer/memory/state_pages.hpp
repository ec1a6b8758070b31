// Pages of recurrent states in a pool whose blocks attention layers share, as vLLM lays them out.
#pragma once

#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// Every page of the pool has the size of a page of attention, which holds at least one state:
///
///   state = inputs of the convolution without the newest, in 16 bit, and the recurrent state
///   tokens of a page = ceil(state / (bytes of a token * step)) * step, step: 16, of MLA 128
///   page = tokens of a page * bytes of a token of one attention layer on the card
///
/// A sequence holds `pages` of them for each recurrent layer (CachePolicy::state_pages), and
/// attention layers round its tokens up to whole pages. Pooled keys of an indexer have pages of as
/// many tokens, packed beside (model/infer/memory/packed_pool.hpp). Source: vLLM 0.33
/// platforms/interface.py _align_hybrid_block_size, v1/kv_cache_interface.py MambaSpec. Left out:
/// states that differ in size, compressed entries and formats of sparse attention's kernels besides
/// states.
struct StatePages {
  Size block_tokens = 0;  ///< tokens of attention's blocks; 0: no states share a pool
  Size page_bytes = 0;    ///< bytes of one layer's page
  Size pages = 0;         ///< pages of each recurrent layer, for one sequence
};
StatePages state_pages(const Scenario& scenario, Size shards);

}  // namespace headroom::model
