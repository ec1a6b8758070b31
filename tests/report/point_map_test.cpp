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

/// Budgets × one machine: `bytes` on each card, the last of them the whole card.
RunInfo budgets_of(const std::string& machine, const std::vector<std::int64_t>& bytes) {
  RunInfo info = run_of({"a"}, {1}, {1});
  Digit& digit = info.grids[0].digits[4];
  std::vector<std::string> parts(bytes.size());
  parts.back() = "max";
  digit[0].values.assign(bytes.size(), machine);
  digit[0].fingerprints.assign(bytes.size(), 1);
  digit.push_back(numbers("gpu_budget_bytes", bytes));
  digit.push_back(texts("gpu_budget_relative", parts));
  return info;
}

std::vector<Size> places(const PointMap& map, Size points) {
  std::vector<Size> all;
  for (Size point = 0; point < points; ++point) all.push_back(map.at(point).to.value_or(-1));
  return all;
}

TEST(PointMap, AWholeCardStaysOneWhenItsMemoryChanges) {
  const Axes from(budgets_of("card", {8, 16, 24})), to(budgets_of("card", {8, 32}));
  EXPECT_EQ(places(PointMap(from, to, Match::names), 3), (std::vector<Size>{0, -1, 1}));
  EXPECT_EQ(places(PointMap(to, from, Match::names), 2), (std::vector<Size>{0, 2}));
  EXPECT_EQ(places(PointMap(from, to, Match::content), 3), (std::vector<Size>{0, -1, -1}))
      << "another budget is another answer";
}

TEST(PointMap, EqualBytesAreTheSameBudgetBeforeWholeCardsAre) {
  const Axes from(budgets_of("card", {8, 16})), to(budgets_of("card", {8, 16, 24}));
  EXPECT_EQ(places(PointMap(from, to, Match::names), 2), (std::vector<Size>{0, 1}));
  EXPECT_EQ(places(PointMap(to, from, Match::names), 3), (std::vector<Size>{0, 1, -1}));
}

/// As budgets_of(), with the parts of the card that they are.
RunInfo budget_parts(const std::vector<std::int64_t>& bytes,
                     const std::vector<std::string>& parts) {
  RunInfo info = budgets_of("card", bytes);
  info.grids[0].digits[4].back() = texts("gpu_budget_relative", parts);
  return info;
}

TEST(PointMap, APartOfTheCardStaysThatPartWhenItsMemoryChanges) {
  const Axes from(budget_parts({6, 12, 22, 24}, {"25%", "50%", "max-2", "max"}));
  const Axes to(budget_parts({12, 24, 46, 48}, {"25%", "50%", "max-2", "max"}));
  EXPECT_EQ(places(PointMap(from, to, Match::names), 4), (std::vector<Size>{0, 1, 2, 3}))
      << "12 bytes are a quarter of one card and half of the other";
  EXPECT_EQ(places(PointMap(from, to, Match::content), 4), (std::vector<Size>{-1, 0, -1, 1}))
      << "the same bytes have the same answer";
}

TEST(PointMap, ASizeThatIsWrittenAsAShareStaysTheSameBytes) {
  const Axes from(budget_parts({12, 24}, {"", "max"})), to(budget_parts({12, 24}, {"50%", "max"}));
  EXPECT_EQ(places(PointMap(from, to, Match::names), 2), (std::vector<Size>{0, 1}));
}

TEST(PointMap, OneMachineStandsInPlaceOfOneOther) {
  const Axes from(budgets_of("old", {8, 24})), to(budgets_of("new", {8, 32}));
  EXPECT_EQ(places(PointMap(from, to, Match::names), 2), (std::vector<Size>{-1, -1}));
  const auto replaced = replaced_machine(from.info(), to.info());
  ASSERT_TRUE(replaced);
  EXPECT_EQ(replaced->from, "old");
  EXPECT_EQ(replaced->to, "new");
  EXPECT_EQ(places(PointMap(from, to, Match::names, replaced), 2), (std::vector<Size>{0, 1}));
}

TEST(PointMap, OfSeveralMachinesNoneStandsForAnother) {
  const auto machines = [](const std::vector<std::string>& names) {
    RunInfo info = run_of({"a"}, {1}, {1});
    info.grids[0].digits[4] = {texts("machine", names)};
    return info;
  };
  EXPECT_TRUE(replaced_machine(machines({"stays", "old"}), machines({"new", "stays"})));
  EXPECT_FALSE(replaced_machine(machines({"stays"}), machines({"new", "stays"})));
  EXPECT_FALSE(replaced_machine(machines({"one", "two"}), machines({"three", "four"})));
  EXPECT_FALSE(replaced_machine(machines({"one", "two"}), machines({"three"})));
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
