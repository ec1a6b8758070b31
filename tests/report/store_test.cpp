// The database: what goes in comes out, views decode axes, runs resume, and errors say what is
// wrong.
#include "report/store.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <functional>

#include "fixture.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/columns.hpp"
#include "report/read.hpp"
#include "report/view.hpp"
#include "store_message.hpp"

namespace headroom::report {
namespace {

TEST(Store, EveryEnumeratorIsStoredAndNamed) {
  Folder folder;
  {
    Store store(folder / "r.sqlite");
    RunInfo info = small_run();
    info.grids[0].digits.push_back({numbers("prompt_tokens", {1, 2, 3})});
    store.begin_run(info);
    std::vector<model::Estimate> all(36);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].verdict = static_cast<model::Verdict>(i % 6);
      all[i].sure = static_cast<model::Confidence>(i % 3);
      all[i].reason = static_cast<model::Reason>(i % 31);
      all[i].gpus_used = static_cast<std::uint16_t>(65535 - i);
    }
    store.append(0, all);
    store.finish_run();
  }
  const Table t =
      Database(folder / "r.sqlite")
          .query("SELECT verdict, sure, reason, gpus_used FROM result ORDER BY point", 0);
  for (std::size_t i = 0; i < t.rows.size(); ++i) {
    EXPECT_EQ(text(t.rows[i][0]), name_of(static_cast<model::Verdict>(i % 6)));
    EXPECT_EQ(text(t.rows[i][1]), name_of(static_cast<model::Confidence>(i % 3)));
    EXPECT_EQ(text(t.rows[i][2]), name_of(static_cast<model::Reason>(i % 31)));
    EXPECT_EQ(number(t.rows[i][3]), static_cast<double>(65535 - i));
  }
  EXPECT_TRUE(name_of(static_cast<model::Reason>(31)).empty()) << "more reasons than are tested";
}

TEST(Store, AnEstimateComesBackExactly) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  const Database database(folder / "r.sqlite");
  Size next = 0;
  database.for_each(database.latest_run(), [&](Size point, const model::Estimate& e) {
    EXPECT_EQ(point, next++);
    const auto expected = made_up(point);
    for (const Column& c : columns()) {
      if (c.kind != ColumnKind::outcome) continue;
      EXPECT_EQ(value_of(c, e, {}), value_of(c, expected, {})) << c.name;
    }
  });
  EXPECT_EQ(next, 12);
}

TEST(Store, VerdictsAreReadWithoutTheRest) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  const Database database(folder / "r.sqlite");
  Size next = 0;
  database.for_each_verdict(1, 0, run_stride, [&](Size point, model::Verdict verdict) {
    EXPECT_EQ(point, next++);
    EXPECT_EQ(verdict, made_up(point).verdict);
  });
  EXPECT_EQ(next, 12);
}

TEST(Store, TheLastAxisMovesFastestAndFactsFollowTheirAxis) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  const Database database(folder / "r.sqlite");
  const Table t = database.query(
      "SELECT model, precision, batch, parameters, context FROM result WHERE point IN (4, 6)", 0);
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_EQ(t.rows[0], (std::vector<Value>{"a/small", "int8", std::int64_t{2}, std::int64_t{7},
                                           std::monostate{}}));
  EXPECT_EQ(t.rows[1], (std::vector<Value>{"b, \"large\"", "bf16", std::int64_t{1},
                                           std::int64_t{70}, std::monostate{}}));
}

/// Two specs in one file, the second with two grids and linked axes.
RunInfo other_run() {
  GridShape linked{{{texts("task", {"inference"})},
                    {texts("model", {"x", "y", "z"}), texts("precision", {"q4_0", "fp8", "fp32"})},
                    {numbers("batch", {8, 16})}}};
  GridShape budgets{
      {{texts("model", {"x"})}, {{"gpu_budget_bytes", {std::int64_t{1} << 30, std::monostate{}}}}}};
  return {"other", "spec of the other", "f2",
          "0.1.0", {linked, budgets},   {{"x", "a hub, it's", "a key that nothing reads"}}};
}

TEST(Store, TwoRunsOfTwoSpecsInOneFile) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  write_all(file, small_run());
  write_all(file, other_run());
  const Database database(file);
  ASSERT_EQ(database.runs().size(), 2u);
  EXPECT_EQ(number(database.query("SELECT count(*) FROM result", 0).rows[0][0]), 8);
  EXPECT_EQ(number(database.query("SELECT count(*) FROM result_all", 0).rows[0][0]), 20);
  const Table t = database.query(
      "SELECT model, precision, batch, gpu_budget_bytes, weights_bytes FROM result ORDER BY point",
      0);
  EXPECT_EQ(t.rows[3], (std::vector<Value>{"y", "fp8", std::int64_t{16}, std::monostate{},
                                           std::int64_t{14'000'000'004}}));
  EXPECT_EQ(t.rows[6], (std::vector<Value>{"x", std::monostate{}, std::monostate{},
                                           std::int64_t{1} << 30, std::int64_t{14'000'000'007}}));
  const Table old =
      database.query("SELECT model, batch FROM result_all WHERE run = 1 AND point = 11", 0);
  EXPECT_EQ(old.rows.at(0), (std::vector<Value>{"b, \"large\"", std::int64_t{4}}));
}

TEST(Store, ARunReadsBackAsItWasGiven) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  write_all(folder / "r.sqlite", other_run());
  const RunInfo found = Database(folder / "r.sqlite").run(2);
  const RunInfo given = other_run();
  EXPECT_EQ(found.spec, given.spec);
  EXPECT_EQ(found.models, given.models);
  ASSERT_EQ(found.grids.size(), given.grids.size());
  for (std::size_t g = 0; g < given.grids.size(); ++g) {
    ASSERT_EQ(found.grids[g].digits.size(), given.grids[g].digits.size());
    for (std::size_t d = 0; d < given.grids[g].digits.size(); ++d) {
      ASSERT_EQ(found.grids[g].digits[d].size(), given.grids[g].digits[d].size());
      for (std::size_t a = 0; a < given.grids[g].digits[d].size(); ++a) {
        EXPECT_EQ(found.grids[g].digits[d][a].column, given.grids[g].digits[d][a].column);
        EXPECT_EQ(found.grids[g].digits[d][a].values, given.grids[g].digits[d][a].values);
      }
    }
  }
}

TEST(Store, AnUnfinishedRunOfTheSameFingerprintGoesOn) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  {
    Store store(file);
    store.begin_run(small_run());
    store.append(0, made_up(0, 5));
  }
  EXPECT_EQ(Database(file).runs().at(0).finished, "");
  EXPECT_NE(message_of([&] { Database(file).latest_run(); }).find("no complete run"),
            std::string::npos);
  Store store(file);
  store.begin_run(small_run());
  EXPECT_EQ(store.run_id(), 1);
  EXPECT_EQ(store.next_point(), 5);
  EXPECT_EQ(store.stored_points(), 5);
  store.append(5, made_up(5, 7));
  store.finish_run();
  EXPECT_EQ(store.run_id(), 1);
  EXPECT_EQ(store.stored_points(), 12);
  EXPECT_THROW(store.append(12, {}), std::logic_error);
  EXPECT_THROW(store.finish_run(), std::logic_error);
  store.begin_run(small_run());
  EXPECT_EQ(store.run_id(), 2) << "after a complete run the same spec makes a new one";
  EXPECT_EQ(store.next_point(), 0);
}

TEST(Store, AnUnfinishedRunOfAnotherFingerprintStays) {
  Folder folder;
  Store store(folder / "r.sqlite");
  store.begin_run(small_run("old"));
  store.append(0, made_up(0, 5));
  store.begin_run(small_run("new"));
  EXPECT_EQ(store.run_id(), 2);
  EXPECT_EQ(store.next_point(), 0);
}

TEST(Store, ExcludedPointsAreNotStored) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  {
    Store store(file);
    store.begin_run(small_run());
    const std::vector<Size> kept{1, 4};
    const std::vector<model::Estimate> estimates{made_up(1), made_up(4)};
    store.append(kept, estimates, 6);
    EXPECT_EQ(store.next_point(), 6);
    store.append({}, {}, 12);
    store.finish_run();
  }
  const Database database(file);
  EXPECT_EQ(database.runs().at(0).points, 2);
  const Table t = database.query("SELECT point, batch FROM result", 0);
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_EQ(t.rows[1], (std::vector<Value>{std::int64_t{4}, std::int64_t{2}}));
}

TEST(Store, BlocksThatDoNotFollowAreRefusedAndLeaveNothing) {
  Folder folder;
  Store store(folder / "r.sqlite");
  EXPECT_THROW(store.append(0, made_up(0, 1)), std::logic_error);
  store.begin_run(small_run());
  EXPECT_THROW(store.append(1, made_up(1, 1)), std::logic_error);
  EXPECT_THROW(store.append(0, made_up(0, 13)), std::logic_error);
  const std::vector<Size> twice{2, 2};
  EXPECT_THROW(store.append(twice, made_up(2, 2), 6), std::logic_error);
  EXPECT_THROW(store.finish_run(), std::logic_error);
  EXPECT_EQ(store.next_point(), 0);
  store.append(0, made_up(0, 12));
  EXPECT_EQ(store.stored_points(), 12);
}

TEST(Store, AxesThatAreNotColumnsAreRefused) {
  Folder folder;
  Store store(folder / "r.sqlite");
  const auto with = [](Digit digit) {
    RunInfo info = small_run();
    info.grids[0].digits.push_back(std::move(digit));
    return info;
  };
  EXPECT_THROW(store.begin_run(with({texts("colour", {"red"})})), std::invalid_argument);
  EXPECT_THROW(store.begin_run(with({texts("weights_bytes", {"1"})})), std::invalid_argument);
  EXPECT_THROW(store.begin_run(with({texts("model", {"again"})})), std::invalid_argument);
  EXPECT_THROW(store.begin_run(with({texts("machine", {})})), std::invalid_argument);
  EXPECT_THROW(store.begin_run(with({texts("machine", {"a", "b"}), numbers("gpus", {1})})),
               std::invalid_argument);
}

TEST(Store, ColumnMeaningDescribesEveryColumn) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  const Table t =
      Database(folder / "r.sqlite")
          .query("SELECT name, unit, meaning, type FROM column_meaning ORDER BY rowid", 0);
  ASSERT_EQ(t.rows.size(), columns().size());
  for (std::size_t i = 0; i < t.rows.size(); ++i) {
    EXPECT_EQ(text(t.rows[i][0]), columns()[i].name);
    EXPECT_EQ(text(t.rows[i][1]), columns()[i].unit);
    EXPECT_FALSE(text(t.rows[i][2]).empty());
    constexpr std::string_view types[] = {"integer", "real", "text"};
    EXPECT_EQ(text(t.rows[i][3]), types[static_cast<std::size_t>(columns()[i].type)]);
  }
}

TEST(Store, ACompleteRunIsOnePlainFile) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  EXPECT_EQ(Database(folder / "r.sqlite").latest_run(), 1);
}

}  // namespace
}  // namespace headroom::report
