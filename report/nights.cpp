#include "report/nights.hpp"

#include <algorithm>

#include "report/point_map.hpp"

namespace headroom::report {

std::optional<std::int64_t> run_before(const Database& database, std::int64_t run) {
  std::optional<std::int64_t> before;
  const std::string name = database.summary(run).name;
  for (const RunSummary& each : database.runs())
    if (each.id < run && each.complete() && each.name == name) before = each.id;
  return before;
}

std::vector<Night> nights(const Database& database, std::int64_t run, Size point,
                          std::size_t most) {
  const Axes now(database.run(run));
  std::vector<Night> all{{database.summary(run), database.find(run, point)}};
  for (auto before = run_before(database, run); before && all.size() < most;
       before = run_before(database, *before)) {
    const Axes then(database.run(*before));
    const auto there = PointMap(now, then, Match::names).at(point).to;
    all.push_back(
        {database.summary(*before), there ? database.find(*before, *there) : std::nullopt});
  }
  std::ranges::reverse(all);
  return all;
}

}  // namespace headroom::report
