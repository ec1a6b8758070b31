// Elements that an engine keeps of a token.
#pragma once

#include <vector>

#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// Elements per token that the engine keeps in a cache, as prefix sums over layers.
const std::vector<Size>& elements_before(const Scenario& scenario, const CacheClass& cache);

/// Values among them. Engines that pad heads have one format, for which these do not count.
const std::vector<Size>& values_before(const Scenario& scenario, const CacheClass& cache);

}  // namespace headroom::model
