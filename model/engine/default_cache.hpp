// The format in which an engine keeps keys and values for "auto".
#pragma once

#include <string>
#include <string_view>

#include "hardware/precision.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/cache_precision.hpp"
#include "model/engine/engine.hpp"

namespace headroom::model {

/// The format that `engine` takes if none is asked for. Kernels of compressed entries need FP8
/// (CachePolicy::sparse_in_fp8). Otherwise the engine takes the format that the checkpoint states,
/// if it follows the checkpoint's method and has the format. An engine whose caches have the type
/// of what is computed keeps them in fp32 with weights in fp32. Otherwise it is 16 bit. A
/// checkpoint in another scheme than its own states nothing. Rules that depend on the card are left
/// out. Source: the engine's row, CachePolicy::follows_checkpoint.
const Precision& default_cache(const QuantisedModel& weights, const Engine& engine);

/// Why a cache is in `cache`, where that is not plain: "as the checkpoint states", "the checkpoint
/// states fp8". Empty otherwise.
std::string cache_reason(const QuantisedModel& weights, const Engine& engine, CachePrecision cache);

}  // namespace headroom::model
