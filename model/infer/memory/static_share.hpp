// The share of a card that an engine gives to weights and caches together (StaticPool).
#pragma once

#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// The engine's sizes on this machine, by the card with the least memory; null: they do not depend
/// on the card.
const CardReserve* card_reserve(const Scenario& scenario);

/// True if weights and caches have a share of their own.
inline bool has_static_pool(const Scenario& s) { return !s.runtime->memory.pool.reserve.empty(); }

/// True if that share is divided between recurrent states and the rest of the caches
/// (StaticPool::state_ratio). Source: SGLang 0.5.23 mem_cache/kv_cache_configurator.py
/// _handle_max_mamba_cache. Left out: --max-mamba-cache-size, --disable-radix-cache.
inline bool has_state_pool(const Scenario& s) {
  return has_static_pool(s) && s.runtime->memory.pool.state_ratio > 0;
}

/// How cards of a replica share a model.
struct CardGrid {
  Size shards = 1;   ///< cards that divide each matrix of the attention
  Size stages = 1;   ///< stages of layers
  Size sharing = 1;  ///< replicas of the attention that share the other matrices
  /// The engine's tensor-parallel size: cards that divide any matrix.
  Size tensor_cards() const { return shards * sharing; }
};

/// Share of the memory that is free at start, which weights and caches may fill; 1: no limit. A
/// share that the user asked for counts in its place.
///
///   share = round((memory - reserve) / memory, 3)
///   reserve = max(at_least, bytes + each_card * cards + token * max(chunk, 2048)
///                 + sequence * graph_batch + replicas + graphs) + draft
///   replicas = replica * graph_batch * sharing (1.5 times that beyond 300), if sharing > 1
///   graphs = graph * captured sizes of a prefill pass, or all of them if the cache has latents
///   captured sizes up to the chunk: by 4 to 32, 16 to 256, 32 to 512, 64 to 1024, 256 to 4096, 512
///
/// cards = tensor cards * stages, and the chunk is that of all replicas. Prefill passes are
/// captured on NVIDIA cards, in one stage, without vision towers and adapters. A vision tower takes
/// vision_share of the share, times 1 - 0.1 * (layers * hidden^2 / (24 * 1024^2) - 1) within 0.8
/// and 1.05. AMD's attention takes long_context_share of it beyond a context of 8192. Source:
/// SGLang 0.5.23 arg_groups/memory_hook.py handle_gpu_memory_settings, adjust_mem_fraction_for_vlm,
/// cuda_graph_hook.py, attention_hook.py. Left out: DeepEP, a
/// max-running-requests below graph_batch, single classes that are captured or not.
double static_share(const Scenario& scenario, const CardGrid& grid);

/// The host's part of a memory that is the card's too: it is not free at start
/// (MemoryPolicy::host_of_unified_bytes). 0 elsewhere, and without a pool.
Bytes host_on_card(const Scenario& scenario);

/// Bytes of weights and caches on a card of `memory` bytes, of which `context` are taken before
/// weights are loaded: share * (memory - context). Source: SGLang 0.5.23
/// mem_cache/kv_cache_configurator.py _profile_available_bytes.
Bytes static_pool(const Scenario& scenario, const CardGrid& grid, Bytes memory, Bytes context);

/// Requests at once that such an engine takes at least, where its command does not say how many; at
/// most twice as many. Source: as request_table(), 0.5.23 kv_cache_configurator.py.
inline constexpr Size usual_requests = 2048;

/// The table of where requests' tokens are: 4 bytes for each position of the longest request, one
/// row for each request at once and one spare. It lies beside the pool, as activations do.
/// Requests are those that the engine is started with (max_sequences), else the batch. Nothing else
/// is kept for a request that is longer than the context. 0 without a pool. Source:
/// SGLang 0.4.6 model_executor/model_runner.py init_memory_pool, 0.5.23 mem_cache/memory_pool.py
/// ReqToTokenPool.
Bytes request_table(const Scenario& scenario);

}  // namespace headroom::model
