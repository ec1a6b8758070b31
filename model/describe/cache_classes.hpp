// Caches of all layers by what decides their bytes.
#pragma once

#include <vector>

#include "model/describe/profile.hpp"

namespace headroom::model {

/// The caches of `part` by class, with prefix sums over `layers` layers. `layer_of`: the layer of
/// each cache, or -1 outside of all.
std::vector<CacheClass> cache_classes(const Part& part, const std::vector<Size>& layer_of,
                                      std::size_t layers);

}  // namespace headroom::model
