// Cost of a sweep, from a sample of its points that is evaluated and stored at once.
#pragma once

#include "sweep/spec/job.hpp"

namespace headroom::sweep {

/// CPU seconds and bytes of one point, as measured on this computer.
struct PointCost {
  Size points = 0;  ///< evaluated for it
  double evaluate_s = 0, store_s = 0;
  double stored_bytes = 0;  ///< in the database
  double text_bytes = 0;    ///< in results.csv
  double fixed_bytes = 0;   ///< the database before the first point

  /// Seconds by the clock for so many points. One thread stores while all evaluate.
  double seconds(Size of, int threads) const;
  /// Bytes of a database with so many points.
  double bytes(Size of) const;
};

/// Evaluates some tens of thousands of points at places all over the grids, and stores them in a
/// temporary database. It takes some tenths of a second. Throws report::StoreError where there is
/// no room for that.
PointCost sampled_cost(const Job& job, const Spec& spec);

}  // namespace headroom::sweep
