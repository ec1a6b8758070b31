// The formats in which an engine keeps the caches of a model.
#pragma once

#include <string>

#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// True for a cache whose entries have the format of its own kernels (CacheClass::entry_bytes), not
/// Scenario::kv_precision: sums that wait for a compressed entry always. With sparse attention's
/// kernels (CachePolicy::sparse_in_fp8): index keys always, latents where the cache is FP8,
/// compressed entries unless another format than the default, fp16, is asked for.
/// Source: vLLM 0.33 models/deepseek_v4/attention.py _resolve_dsv4_kv_cache_dtype;
/// v1/attention/backends/mla/indexer.py.
bool in_own_format(const Scenario& scenario, const CacheClass& cache);

/// "fp16", "fp16, index keys in fp8", "fp8 (584 bytes an entry)".
std::string cache_format(const Scenario& scenario);

}  // namespace headroom::model
