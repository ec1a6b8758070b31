// tbb::parallel_pipeline: blocks are handed out in order, evaluated in any, stored in order. Memory
// is bounded by the number of blocks under way.
#include "sweep/run/runner.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_pipeline.h>

#include <algorithm>
#include <memory>

namespace headroom::sweep {
namespace {

struct Block {
  std::vector<report::RowRange> pieces;
  std::vector<Size> points;  ///< to be computed, without the excluded ones
  std::vector<model::Estimate> estimates;
  Size end = 0;
  Size reused = 0;  ///< rows of pieces that have them
};

/// Every point of `piece` that is not excluded. A piece may reach over the end of a grid.
template <class Visit>
void for_each_point(const Job& job, const report::RowRange& piece, Visit&& visit) {
  const Size last = piece.first + piece.points;
  for (Size at = piece.first; at < last;) {
    const auto [grid, inside] = job.locate(at);
    const Size end = std::min(last, at + grid->grid.size() - inside);
    if (piece.row && grid->exclusions.empty()) {
      visit(*grid, std::span<const Size>(), at, end - at);
      at = end;
      continue;
    }
    std::vector<Size> digits(grid->grid.radices().size());
    grid->grid.decode(inside, digits);
    for (; at < end; ++at, grid->grid.advance(digits))
      if (!grid->excluded(digits)) visit(*grid, digits, at, Size{1});
  }
}

void evaluate(const Job& job, Block& block) {
  block.points.clear();
  block.estimates.clear();
  block.reused = 0;
  Evaluators evaluators;
  for (const auto& piece : block.pieces)
    for_each_point(job, piece,
                   [&](const JobGrid& grid, std::span<const Size> digits, Size at, Size points) {
                     if (piece.row) {
                       block.reused += points;
                       return;
                     }
                     block.points.push_back(at);
                     block.estimates.push_back(grid.evaluate(digits, evaluators));
                   });
}

}  // namespace

void evaluate_blocks(const Job& job, Size first, Size end, const RunnerOptions& options,
                     const std::function<void(const EvaluatedBlock&)>& keep) {
  const std::size_t jobs = options.jobs > 0
                               ? static_cast<std::size_t>(options.jobs)
                               : static_cast<std::size_t>(tbb::info::default_concurrency());
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, jobs);
  Size next = first;
  std::vector<Block> buffers(2 * jobs);
  std::size_t turn = 0;

  const auto hand_out = [&](tbb::flow_control& control) -> Block* {
    if (next >= end || (options.stop && options.stop->load())) {
      control.stop();
      return nullptr;
    }
    Block* block = &buffers[turn++ % buffers.size()];
    block->pieces.clear();
    for (const Size full = std::min(end, next + block_points); next < full;) {
      const report::RowRange piece =
          options.reuse ? options.reuse->at(next, end) : report::RowRange{next, end - next};
      block->pieces.push_back(piece);
      // Computed points are cut into blocks. Points that exist already are taken together.
      if (!piece.row) block->pieces.back().points = std::min(piece.points, full - next);
      next += block->pieces.back().points;
    }
    block->end = next;
    return block;
  };
  const auto work = [&](Block* block) {
    evaluate(job, *block);
    return block;
  };
  const auto hand_over = [&](Block* block) {
    keep({block->pieces, block->points, block->estimates, block->end, block->reused});
    if (options.progress) options.progress(block->end);
  };
  tbb::parallel_pipeline(
      buffers.size(),
      tbb::make_filter<void, Block*>(tbb::filter_mode::serial_in_order, hand_out) &
          tbb::make_filter<Block*, Block*>(tbb::filter_mode::parallel, work) &
          tbb::make_filter<Block*, void>(tbb::filter_mode::serial_in_order, hand_over));
}

bool run(const Job& job, report::Store& store, const RunnerOptions& options) {
  const Size total = store.end_point();
  evaluate_blocks(job, store.next_point(), total, options, [&](const EvaluatedBlock& block) {
    store.append(block.pieces, block.points, block.estimates, block.reused);
  });
  if (store.next_point() < total) return false;
  store.finish_run();
  return true;
}

}  // namespace headroom::sweep
