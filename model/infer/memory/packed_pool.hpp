// Blocks of one pool for caches whose entries differ in size, as vLLM packs them.
#pragma once

#include <span>

#include "hardware/units.hpp"

namespace headroom::model {

/// Layers whose caches have the same pages.
struct PagedLayers {
  Size layers;
  Size page_bytes;    ///< bytes of one layer's page
  Size block_tokens;  ///< tokens of a page
  Size window;        ///< tokens that it keeps; 0: all
  Size states = 0;    ///< pages of a sequence, however long it is; 0: they follow its tokens
};

/// Blocks of the pool that sequences need.
struct PoolDemand {
  Size block_bytes = 0;  ///< bytes of one block: a page of each layer of the widest group
  Size blocks = 0;       ///< blocks of all sequences
  Bytes bytes() const { return Bytes(block_bytes * blocks); }
};

/// Blocks for `sequences` of `tokens` each, of which one pass writes `in_flight`.
///
/// Layers with the same block, window and states are a bucket. If equally many layers have each
/// page size of a bucket, it is split into groups with at most so many layers of each size. Other
/// buckets are one group. The number is what pads the buckets least, and at least that of a bucket
/// with several page sizes. States are split further, and windows where nothing sets that number. A
/// group of them has no more layers than a block of the other buckets has room for. A group takes
///
///   whole context  ceil(tokens / block) blocks a sequence
///   window         ceil((window - 1 + n) / block) + 1, n: in_flight for one sequence, else 0
///   states         `states` blocks a sequence
///
/// Source: vLLM 0.33 v1/core/kv_cache_planning.py _get_packed_kv_cache_groups,
/// _max_memory_usage_bytes_from_groups; v1/kv_cache_interface.py SlidingWindowSpec, MambaSpec,
/// CircularBufferSpec.
PoolDemand packed_pool(std::span<const PagedLayers> all, Size tokens, Size sequences,
                       Size in_flight);

}  // namespace headroom::model
