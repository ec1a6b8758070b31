#include "sweep/longest_contexts.hpp"

#include <utility>
#include <vector>

#include "model/infer/serving.hpp"
#include "report/selection.hpp"

namespace headroom::sweep {

void keep_longest_contexts(const Job& job, const report::Database& database, report::Store& store) {
  const std::int64_t run = store.run_id();
  const report::Axes axes(database.run(run));
  std::vector<std::pair<Size, Size>> contexts;
  for (const report::ModelRow& line : report::lines_of(database, axes, run)) {
    const Size point = line.roomiest().point;
    const auto [grid, inside] = job.locate(point);
    std::vector<Size> digits(grid->grid.radices().size());
    grid->grid.decode(inside, digits);
    if (const Size tokens = model::longest_context(grid->scenario(digits)); tokens > 0)
      contexts.emplace_back(point, tokens);
  }
  store.keep_longest_contexts(contexts);
}

}  // namespace headroom::sweep
