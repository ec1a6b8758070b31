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

namespace {

Night night_of(const Database& database, const Axes& axes, std::int64_t run,
               std::optional<Size> point, std::span<const Column* const> followed) {
  Night night{database.summary(run), point ? database.find(run, *point) : std::nullopt, {}};
  night.values.resize(followed.size());
  if (night.estimate)
    for (std::size_t i = 0; i < followed.size(); ++i)
      night.values[i] =
          owned(axes.cell(*followed[i], *point, *night.estimate, axes.factors(*point)));
  return night;
}

}  // namespace

std::vector<Night> nights(const Database& database, std::int64_t run, Size point, std::size_t most,
                          std::span<const Column* const> followed) {
  const Axes now(database.run(run));
  std::vector<Night> all{night_of(database, now, run, point, followed)};
  for (auto before = run_before(database, run); before && all.size() < most;
       before = run_before(database, *before)) {
    const Axes then(database.run(*before));
    const auto there = PointMap(now, then, Match::names).at(point).to;
    all.push_back(night_of(database, then, *before, there, followed));
  }
  std::ranges::reverse(all);
  return all;
}

}  // namespace headroom::report
