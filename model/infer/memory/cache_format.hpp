// The formats in which an engine keeps the caches of a model.
#pragma once

#include <string>
#include <vector>

#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// The formats of keys and values: what is asked for, else default_cache
/// (model/engine/default_cache.hpp). Both are known.
CachePrecision cache_precision(const Scenario& scenario);

/// True if `engine` has the format on every card of the machine (CacheFormat::cards).
bool has_format(const Engine& engine, const Precision& precision, const Machine& machine);

/// True if `engine` has both formats on these cards, and may combine them with `model` where they
/// differ (CachePolicy::separate).
bool holds_cache(const Engine& engine, const Model& model, CachePrecision cache,
                 const Machine& machine);

/// True for a cache whose entries have the format of its own kernels (CacheClass::entry_bytes), not
/// cache_precision: sums that wait for a compressed entry always. With sparse attention's kernels
/// (CachePolicy::sparse_in_fp8): index keys always, latents and compressed entries where the cache
/// is FP8.
/// Source: vLLM 0.33 models/deepseek_v4/attention.py _resolve_dsv4_kv_cache_dtype;
/// v1/attention/backends/mla/indexer.py.
bool in_own_format(const Scenario& scenario, const CacheClass& cache);

/// An entry in the format of its own kernels.
struct OwnEntry {
  Size bytes;
  Size page_step;  ///< bytes that pages of a pool are multiples of
};
/// The entry of a cache for which in_own_format() holds. It is CacheClass::sm100_entry_bytes, if
/// there is one and all cards have compute capability 10.x. Source of the steps: vLLM 0.33
/// models/deepseek_v4/attention.py; models/deepseek_v41/attention.py kv_page_alignment.
OwnEntry own_entry(const Scenario& scenario, const CacheClass& cache);

/// Elements of recurrent state that the engine keeps in fp32, as prefix sums over layers; the
/// others have CachePolicy::state_bytes.
const std::vector<Size>& fp32_before(const Scenario& scenario, const CacheClass& cache);

/// Elements of recurrent state of a sequence, as prefix sums over layers. CachePolicy::newest_input
/// decides which inputs of convolutions count.
const std::vector<Size>& elements_of_state(const Scenario& scenario, const CacheClass& cache);

/// Bytes that an element in fp32 takes more than others of a recurrent state.
Size fp32_excess(const Scenario& scenario);

/// The window that the engine applies; 0: none.
Size applied_window(const Scenario& scenario, const CacheClass& cache);

/// Parts that `shards` cards divide a cache into. Expanded keys and values have a head for each
/// query head, and shards divide these.
Size ways_of(const Scenario& scenario, const CacheClass& cache, Size shards);

/// "fp16", "fp16, index keys in fp8", "fp8 (584 bytes an entry)", "fp8, as the checkpoint states".
std::string cache_format(const Scenario& scenario);

}  // namespace headroom::model
