#include "sweep/longest_contexts.hpp"

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
  for (const report::ModelRow& line : report::lines_of(database, axes, run)) {
    const Size point = line.roomiest().point;
    const auto same = reused ? reuse->same_point(point) : std::nullopt;
    const auto known = same ? earlier.find(*same) : earlier.end();
    const Size tokens = known != earlier.end() ? known->second : computed(job, point);
    if (tokens > 0) contexts.emplace_back(point, tokens);
  }
  store.keep_longest_contexts(contexts);
}

}  // namespace headroom::sweep
