// Finding a point in another run.
#include "report/point_map.hpp"

#include <gtest/gtest.h>

#include "diff_runs.hpp"

namespace headroom::report {
namespace {

TEST(PointMap, FollowsNamesThroughChangedAxes) {
  const Axes from(run_of({"a", "b"}, {1, 2}, {1, 2, 4}));
  const Axes to(run_of({"x", "b", "a"}, {9, 2, 1}, {2, 1}));
  const PointMap map(from, to, Match::names);
  const std::vector<std::optional<Size>> expected{5, 4, std::nullopt, 3, 2, std::nullopt};
  for (Size point = 0; point < 6; ++point) {
    EXPECT_EQ(map.at(point).to, expected[static_cast<std::size_t>(point)]) << point;
    EXPECT_EQ(map.at(point).points, 1) << point;
  }
}

TEST(PointMap, EqualTrailingAxesAreTakenInOneGo) {
  const Axes from(run_of({"b", "a"}, {2, 1}, {1, 2, 4}));
  const Axes to(run_of({"a", "b"}, {1, 2}, {1, 2, 4}));
  const PointMap map(from, to, Match::names);
  EXPECT_EQ(map.at(0).points, 3);
  EXPECT_EQ(map.at(0).to, 3);
  EXPECT_EQ(map.at(4).points, 2);
  EXPECT_EQ(map.at(4).to, 1);
}

TEST(PointMap, ContentSeesWhatNamesHide) {
  const Axes from(run_of({"a", "b"}, {1, 7}, {1, 2}));
  const Axes to(run_of({"a", "b"}, {1, 2}, {1, 2}));
  EXPECT_TRUE(PointMap(from, to, Match::names).at(2).to);
  const PointMap map(from, to, Match::content);
  EXPECT_EQ(map.at(0).to, 0);
  EXPECT_FALSE(map.at(2).to);
}

TEST(PointMap, OtherExclusionsAreAnotherContent) {
  RunInfo with = run_of({"a"}, {1}, {1, 2});
  with.grids[0].excluded = "batch = 1\n";
  const Axes from(with), to(run_of({"a"}, {1}, {1, 2}));
  EXPECT_FALSE(PointMap(from, to, Match::content).at(1).to);
  EXPECT_TRUE(PointMap(from, to, Match::names).at(1).to);
}

}  // namespace
}  // namespace headroom::report
