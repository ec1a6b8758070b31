// tbb::parallel_pipeline: blocks are handed out in order, evaluated in any, stored in order. Memory
// is bounded by the number of blocks under way.
#include "sweep/runner.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_pipeline.h>

#include <algorithm>
#include <memory>

namespace headroom::sweep {
namespace {

struct Block {
  Size first = 0, end = 0;
  std::vector<Size> points;  ///< without the excluded ones
  std::vector<model::Estimate> estimates;
};

/// Points first to end of the whole run. A block may reach over the end of a grid.
void evaluate(const Job& job, Block& block) {
  block.points.clear();
  block.estimates.clear();
  for (Size at = block.first; at < block.end;) {
    const auto [grid, inside] = job.locate(at);
    const Size end = std::min(block.end, at + grid->grid.size() - inside);
    std::vector<Size> digits(grid->digits.size());
    grid->grid.decode(inside, digits);
    for (; at < end; ++at, grid->grid.advance(digits)) {
      if (grid->excluded(digits)) continue;
      block.points.push_back(at);
      block.estimates.push_back(model::evaluate(grid->scenario(digits)));
    }
  }
}

}  // namespace

bool run(const Job& job, report::Store& store, const RunnerOptions& options) {
  const std::size_t jobs = options.jobs > 0
                               ? static_cast<std::size_t>(options.jobs)
                               : static_cast<std::size_t>(tbb::info::default_concurrency());
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, jobs);
  const Size total = job.points();
  Size next = store.next_point();
  std::vector<Block> buffers(2 * jobs);
  std::size_t turn = 0;

  const auto hand_out = [&](tbb::flow_control& control) -> Block* {
    if (next >= total || (options.stop && options.stop->load())) {
      control.stop();
      return nullptr;
    }
    Block* block = &buffers[turn++ % buffers.size()];
    block->first = next;
    block->end = next = std::min(total, next + block_points);
    return block;
  };
  const auto work = [&](Block* block) {
    evaluate(job, *block);
    return block;
  };
  const auto keep = [&](Block* block) {
    store.append(block->points, block->estimates, block->end);
    if (options.progress) options.progress(block->end);
  };
  tbb::parallel_pipeline(
      buffers.size(), tbb::make_filter<void, Block*>(tbb::filter_mode::serial_in_order, hand_out) &
                          tbb::make_filter<Block*, Block*>(tbb::filter_mode::parallel, work) &
                          tbb::make_filter<Block*, void>(tbb::filter_mode::serial_in_order, keep));
  if (store.next_point() < total) return false;
  store.finish_run();
  return true;
}

}  // namespace headroom::sweep
