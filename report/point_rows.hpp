// Outcomes of chosen points of a run, read in the order of their rows.
#pragma once

#include <optional>
#include <vector>

#include "model/infer/estimate.hpp"
#include "report/read.hpp"

namespace headroom::report {

class PointRows {
 public:
  /// Reads each of `points`, which may stand in any order. Throws StoreError.
  PointRows(const Database& database, std::int64_t run, std::vector<Size> points);
  /// nullptr: the run does not store the point.
  const model::Estimate* find(Size point) const;

 private:
  std::vector<Size> points_;  ///< ascending, those that are stored
  std::vector<model::Estimate> estimates_;
};

}  // namespace headroom::report
