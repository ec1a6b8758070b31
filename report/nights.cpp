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

struct Nights::Run {
  RunSummary summary;
  Axes axes;
  std::optional<PointMap> map;  ///< from the latest run; none: it is the latest
};

Nights::Nights(const Database& database, std::int64_t run, std::size_t most)
    : database_(&database) {
  for (std::optional id = run; id && runs_.size() < most; id = run_before(database, *id)) {
    runs_.push_back(std::make_unique<Run>(database.summary(*id), Axes(database.run(*id))));
    if (runs_.size() > 1)
      runs_.back()->map.emplace(runs_.front()->axes, runs_.back()->axes, Match::names);
  }
}
Nights::~Nights() = default;

std::vector<Night> Nights::of(Size point, std::span<const Column* const> followed) const {
  std::vector<Night> all;
  for (const auto& run : runs_) {
    const auto there = run->map ? run->map->at(point).to : std::optional(point);
    Night& night = all.emplace_back(run->summary,
                                    there ? database_->find(run->summary.id, *there) : std::nullopt,
                                    std::vector<Value>(followed.size()));
    if (!night.estimate) continue;
    for (std::size_t i = 0; i < followed.size(); ++i)
      night.values[i] =
          owned(run->axes.cell(*followed[i], *there, *night.estimate, run->axes.factors(*there)));
  }
  std::ranges::reverse(all);
  return all;
}

}  // namespace headroom::report
