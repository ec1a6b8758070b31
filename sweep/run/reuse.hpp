// Points that an earlier run has computed already from the same facts by the same program.
#pragma once

#include <memory>
#include <optional>

#include "report/extent.hpp"
#include "report/point_map.hpp"
#include "report/read.hpp"

namespace headroom::sweep {

class Reuse {
 public:
  /// The latest complete run of `info`'s name in the database, where it is of the same version;
  /// none of `info`'s points is reused otherwise.
  Reuse(const report::Database& database, const report::RunInfo& info);

  /// The run that rows are taken from; 0: none.
  std::int64_t run() const { return run_; }
  /// `point` and those after it, up to `end`: in rows that are there, or to be computed.
  report::RowRange at(Size point, Size end) const;
  /// The point of that run that has the same facts and the same program; none: there is none.
  std::optional<Size> same_point(Size point) const;
  /// True if a run of `info` with these extents is that run again: the same points in the same
  /// rows.
  bool repeats(const std::vector<report::Extent>& extents) const;

 private:
  std::int64_t run_ = 0;
  std::unique_ptr<report::Axes> now_, before_;
  std::unique_ptr<report::PointMap> map_;
  std::vector<report::Extent> extents_;
};

}  // namespace headroom::sweep
