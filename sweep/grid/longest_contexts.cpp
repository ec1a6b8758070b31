#include "sweep/grid/longest_contexts.hpp"

#include <tbb/parallel_for.h>

#include <map>
#include <utility>
#include <vector>

#include "model/infer/serving.hpp"
#include "report/selection.hpp"

namespace headroom::sweep {

namespace {

Size computed(const Job& job, Size point) {
  const auto [grid, inside] = job.locate(point);
  std::vector<Size> digits(grid->grid.radices().size());
  grid->grid.decode(inside, digits);
  return model::longest_context(grid->scenario(digits));
}

}  // namespace

void keep_longest_contexts(const Job& job, const report::Database& database, report::Store& store,
                           const Reuse* reuse) {
  const std::int64_t run = store.run_id();
  const bool reused = reuse && reuse->run() != 0;
  const auto earlier = reused ? database.longest_contexts(reuse->run()) : std::map<Size, Size>();
  // A run that was killed at its end has none.
  if (!earlier.empty() && reuse->repeats(database.extents(run))) {
    store.keep_longest_contexts(std::vector<std::pair<Size, Size>>(earlier.begin(), earlier.end()));
    return;
  }
  const report::Axes axes(database.run(run));
  std::vector<std::pair<Size, Size>> contexts;
  std::vector<std::size_t> unknown;
  for (const report::ModelRow& line : report::lines_of(database, axes, run)) {
    const Size point = line.roomiest().point;
    const auto same = reused ? reuse->same_point(point) : std::nullopt;
    const auto known = same ? earlier.find(*same) : earlier.end();
    if (known == earlier.end()) unknown.push_back(contexts.size());
    contexts.emplace_back(point, known == earlier.end() ? 0 : known->second);
  }
  tbb::parallel_for(std::size_t{0}, unknown.size(), [&](std::size_t i) {
    auto& [point, tokens] = contexts[unknown[i]];
    tokens = computed(job, point);
  });
  std::erase_if(contexts, [](const auto& line) { return line.second <= 0; });
  store.keep_longest_contexts(contexts);
}

}  // namespace headroom::sweep
