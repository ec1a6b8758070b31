// Options that say whether there is a KV cache, and in which formats.
#pragma once

#include "model/infer/scenario/scenario.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// Sets kv_cache and kv_precision. llama.cpp's flag for keys leaves values to the engine, and that
/// for values leaves keys. Throws UsageError for flags that contradict each other or would have no
/// effect, UnknownName for unknown formats.
void set_cache(const Options& options, model::Scenario& scenario);

}  // namespace headroom::sweep
