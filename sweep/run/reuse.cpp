#include "sweep/run/reuse.hpp"

#include <algorithm>

namespace headroom::sweep {

Reuse::Reuse(const report::Database& database, const report::RunInfo& info) {
  const auto all = database.runs();
  const auto last = std::find_if(all.rbegin(), all.rend(), [&](const report::RunSummary& run) {
    return !run.finished.empty() && run.name == info.name;
  });
  if (last == all.rend() || last->version != info.version) return;
  run_ = last->id;
  now_ = std::make_unique<report::Axes>(info);
  before_ = std::make_unique<report::Axes>(database.run(run_));
  map_ = std::make_unique<report::PointMap>(*now_, *before_, report::Match::content);
  extents_ = database.extents(run_);
}

report::RowRange Reuse::at(Size point, Size end) const {
  if (run_ == 0) return {point, end - point};
  const auto range = map_->at(point);
  report::RowRange piece{point, std::min(range.points, end - point)};
  if (!range.to) return piece;
  // A shard of another night may hold a part of them.
  const auto after = std::ranges::upper_bound(extents_, *range.to, {}, &report::Extent::first);
  if (after != extents_.end()) piece.points = std::min(piece.points, after->first - *range.to);
  if (after == extents_.begin()) return piece;
  const report::Extent& extent = *std::prev(after);
  const Size skipped = *range.to - extent.first;
  if (skipped >= extent.points) return piece;
  piece.points = std::min(piece.points, extent.points - skipped);
  piece.row = extent.row + skipped;
  return piece;
}

std::optional<Size> Reuse::same_point(Size point) const {
  return run_ == 0 ? std::nullopt : map_->at(point).to;
}

bool Reuse::repeats(const std::vector<report::Extent>& extents) const {
  return run_ != 0 && extents == extents_ && now_->info().grids == before_->info().grids;
}

}  // namespace headroom::sweep
