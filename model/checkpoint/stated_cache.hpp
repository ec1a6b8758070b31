// The format of keys and values that a checkpoint's quantiser states.
#pragma once

#include <string>
#include <string_view>

namespace headroom::model {

class Config;

/// The KV cache that a quantisation_config states. Engines decide whether to follow it
/// (CachePolicy::follows_checkpoint).
struct StatedCache {
  std::string_view precision{};  ///< hardware/precision.hpp; empty: it states none
};

/// Reads `kv_cache_scheme`, else `kv_cache_quant_algo`, of the section `q` of `method`. Throws
/// ConfigError for a format that is not described.
/// Source: vLLM 0.33 utils/torch_utils.py get_kv_cache_quant_algo_string; layers/quantization/
/// compressed_tensors/compressed_tensors.py validate_kv_cache_scheme.
StatedCache stated_cache(const Config& q, std::string_view method);

}  // namespace headroom::model
