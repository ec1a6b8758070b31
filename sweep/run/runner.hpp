// Evaluates a job's points in parallel and stores them in order, block by block.
#pragma once

#include <atomic>
#include <functional>
#include <span>

#include "model/infer/estimate.hpp"
#include "report/store.hpp"
#include "sweep/run/reuse.hpp"
#include "sweep/spec/job.hpp"

namespace headroom::sweep {

/// Points evaluated and stored together: one transaction each. Fixed, so that what is stored does
/// not depend on the number of threads.
inline constexpr Size block_points = 8192;

struct RunnerOptions {
  int jobs = 0;                             ///< threads that evaluate; 0: all cores
  const std::atomic<bool>* stop = nullptr;  ///< true: finish the blocks under way, then return
  std::function<void(Size done)> progress;  ///< after each block: points done so far
  const Reuse* reuse = nullptr;             ///< null: every point is computed
};

/// Points in a row, evaluated: spans live until the visitor returns.
struct EvaluatedBlock {
  std::span<const report::RowRange> pieces;
  std::span<const Size> points;  ///< those of pieces without rows that are not excluded
  std::span<const model::Estimate> estimates;
  Size end = 0;     ///< the point after the last one
  Size reused = 0;  ///< rows of the pieces that have them
};

/// Evaluates points `first` to `end` in parallel and passes them to `keep` in order, one block at a
/// time. It ends after the last point or when it is asked to stop. Memory is bounded by the blocks
/// under way.
void evaluate_blocks(const Job& job, Size first, Size end, const RunnerOptions& options,
                     const std::function<void(const EvaluatedBlock&)>& keep);

/// Runs from `store.next_point()` to its end, or until it is asked to stop. True: every point is
/// done and the run is marked complete. Throws StoreError; whole blocks that were stored before
/// stay.
bool run(const Job& job, report::Store& store, const RunnerOptions& options);

}  // namespace headroom::sweep
