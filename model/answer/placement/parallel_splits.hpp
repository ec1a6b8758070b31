// Every way in which a runtime that splits matrices can use the cards of a machine.
#pragma once

#include <optional>
#include <vector>

#include "model/infer/estimate.hpp"
#include "model/infer/placement/cache_room.hpp"

namespace headroom::model {

struct ParallelSplit {
  Size tensor = 1, pipeline = 1;
  Size expert = 0;  ///< 0: experts are split like other matrices
  Estimate estimate;
  Bytes weights;                  ///< on the card that holds most
  std::optional<CacheRoom> room;  ///< empty if it does not fit
};

/// Tensor and pipeline parallel sizes that divide the number of cards. Models with experts also get
/// each split with expert parallelism. A size that the scenario gives stays. Splits that do not
/// divide the model carry the reason.
std::vector<ParallelSplit> parallel_splits(const Scenario& scenario);

}  // namespace headroom::model
