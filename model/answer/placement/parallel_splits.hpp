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
  std::optional<CacheRoom> room;  ///< where it fits
};

/// Tensor and pipeline parallel sizes that divide the number of cards, of a model with experts also
/// with the experts spread whole; a size that the scenario gives stays. What does not divide the
/// model is there with its reason.
std::vector<ParallelSplit> parallel_splits(const Scenario& scenario);

/// The same, each matrix split over as many cards as decode quickest with all of each budget:
/// fewest where several are as quick. Unchanged where sizes are given, nothing fits, or layers are
/// split.
Scenario with_quickest_split(const Scenario& scenario);

}  // namespace headroom::model
