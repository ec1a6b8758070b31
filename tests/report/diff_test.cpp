// Runs by reference, shards and merging, differences with causes, and pruning.
#include "report/diff.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <sstream>

#include "diff_runs.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/condition.hpp"
#include "report/csv.hpp"
#include "report/document.hpp"
#include "report/nights.hpp"

namespace headroom::report {
namespace {

TEST(Extents, ARunOfAnothersRowsReadsLikeOneOfItsOwn) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  write(file, run_of({"a", "b"}, {1, 2}, {1, 2}), {10, 20, 30, 40});
  const RunInfo later = run_of({"b", "c", "a"}, {2, 3, 1}, {1, 2});
  {
    Store store(file);
    store.begin_run(later);
    const Size one = run_stride;  // rows of run 1
    const std::vector<RowRange> pieces{{0, 2, one + 2}, {2, 2}, {4, 2, one}};
    const std::vector<Size> points{2, 3};
    const std::vector<model::Estimate> computed{outcome(50), outcome(60)};
    store.append(pieces, points, computed, 4);
    store.finish_run();
    EXPECT_EQ(store.stored_points(), 6);
    EXPECT_EQ(store.reused_points(), 4);
  }
  const auto fresh = write(file, later, {30, 40, 50, 60, 10, 20});
  EXPECT_EQ(csv_of(file, 2), csv_of(file, fresh));
  const Database database(file);
  EXPECT_EQ(database.find(2, 4)->tokens_s, 10);
  const auto rows = [&](int run) {
    return database
        .query("SELECT point, model, batch, tokens_s FROM result_all WHERE run = " +
                   std::to_string(run) + " ORDER BY point",
               0)
        .rows;
  };
  EXPECT_EQ(rows(2), rows(3));
}

TEST(Prune, RowsThatALaterRunRefersToStay) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  const RunInfo info = run_of({"a", "b"}, {1, 2}, {1, 2});
  write(file, info, {10, 20, 30, 40});
  {
    Store store(file);
    store.begin_run(info);
    const std::vector<RowRange> pieces{{0, 2}, {2, 2, run_stride + 2}};
    const std::vector<Size> points{0, 1};
    store.append(pieces, points, std::vector{outcome(11), outcome(21)}, 2);
    store.finish_run();
  }
  const auto before = csv_of(file, 2);
  const auto pruned = Store(file).prune(1);
  EXPECT_EQ(pruned.runs, 1);
  EXPECT_EQ(pruned.rows, 2);
  EXPECT_EQ(csv_of(file, 2), before);
  const Database database(file);
  EXPECT_EQ(database.runs().size(), 1u);
  EXPECT_EQ(number(database.query("SELECT count(*) FROM outcome", 0).rows[0][0]), 4);
  EXPECT_EQ(number(database.query("SELECT count(*) FROM result", 0).rows[0][0]), 4);
}

TEST(Prune, AnUnfinishedLastRunStaysAndGoesOn) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  const RunInfo info = run_of({"a"}, {1}, {1, 2});
  write(file, info, {10, 20});
  write(file, info, {10, 20});
  {
    Store store(file);
    store.begin_run(info);
    store.append(0, std::vector{outcome(10)});
  }
  EXPECT_EQ(Store(file).prune(1).runs, 1);
  Store store(file);
  store.begin_run(info);
  EXPECT_EQ(store.next_point(), 1);
}

struct ChangedRow {
  std::optional<Size> before, after;
  std::string cause;
  bool verdict;
  bool operator==(const ChangedRow&) const = default;
};

std::vector<ChangedRow> changes(const Diff& diff, Diff::Counts* counts = nullptr) {
  std::vector<ChangedRow> all;
  const auto found = diff.for_each([&](const PointChange& c) {
    all.push_back({c.before, c.after, c.cause, c.verdict});
  });
  if (counts) *counts = found;
  return all;
}

TEST(Diff, EachChangeHasItsCause) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  write(file, run_of({"a", "b", "gone"}, {1, 2, 3}, {1}), {10, 20, 30});
  RunInfo later = run_of({"a", "b", "new"}, {1, 8, 4}, {1}, 2);
  later.version = "2";
  write(file, later, {10.05, 40, 50});
  const Database database(file);
  const Diff diff(database, 1, 2);
  Diff::Counts counts;
  const auto found = changes(diff, &counts);
  const std::vector<ChangedRow> expected{{1, 1, "model metadata; hardware; program version", false},
                                         {std::nullopt, 2, "spec: model new", false},
                                         {2, std::nullopt, "spec: model gone", false}};
  EXPECT_EQ(found, expected);
  EXPECT_EQ(counts.below, 1) << "half a percent is below the threshold";
  EXPECT_EQ(counts.numbers, 1);
  EXPECT_EQ(counts.added, 1);
  EXPECT_EQ(counts.removed, 1);
  EXPECT_EQ(counts.same, 0);
  std::set<std::string> inputs;
  for (const auto& each : diff.inputs()) inputs.insert(words_of(each));
  EXPECT_EQ(inputs, (std::set<std::string>{"program version: 1 → 2", "model metadata changed: b",
                                           "hardware changed: card", "spec: model new: new",
                                           "spec: model gone: gone"}));
}

TEST(Diff, ThresholdsAreTakenFromBothSides) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  const RunInfo info = run_of({"a", "b"}, {1, 2}, {1});
  write(file, info, {100, 100});
  write(file, info, {104, 106});
  const Database database(file);
  const auto found = changes(Diff(database, 1, 2, 0.05));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].after, 1);
  EXPECT_EQ(found[0].cause, "unexplained") << "nothing that results depend on has changed";
}

TEST(Diff, RowsInCommonAreTheSameWithoutBeingRead) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  const RunInfo info = run_of({"a", "b"}, {1, 2}, {1, 2});
  write(file, info, {10, 20, 30, 40});
  {
    Store store(file);
    store.begin_run(info);
    const std::vector<RowRange> pieces{{0, 3, run_stride}, {3, 1}};
    const std::vector<Size> points{3};
    store.append(pieces, points, std::vector{outcome(80, model::Verdict::fits_cpu_offload)}, 3);
    store.finish_run();
  }
  const Database database(file);
  const Diff diff(database, 1, 2);
  Diff::Counts counts;
  const auto found = changes(diff, &counts);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].verdict);
  EXPECT_EQ(counts.same, 3);
  EXPECT_EQ(counts.verdicts, 1);
  const auto answers = decisions(diff);
  EXPECT_EQ(answers.rows.size(), 0u) << "tables show batch 1, which is the same";
  Size pairs = 0;
  diff.for_each_pair([&](const PointChange&) { ++pairs; });
  EXPECT_EQ(pairs, 4);
}

TEST(Diff, TheDocumentBeginsWithDecisions) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  const RunInfo info = run_of({"a|b", "<i>"}, {1, 2}, {1});
  write(file, info, {10, 20});
  {
    Store store(file);
    store.begin_run(info);
    store.append(0, std::vector{outcome(10, model::Verdict::fits_cpu_offload), outcome(20)});
    store.finish_run();
  }
  const Database database(file);
  const auto page = to_markdown(diff_document(Diff(database, 1, 2)));
  const auto decision =
      page.find("| card | engine | a\\|b | bf16 | fits on 1 GPU | fits with CPU offload");
  EXPECT_NE(decision, std::string::npos) << page;
  EXPECT_LT(decision, page.find("## Inputs"));
}

TEST(Nights, FollowOnePointThroughRunsThatNumberItOtherwise) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  write(file, run_of({"a"}, {1}, {1, 2}), {1, 2});
  write(file, run_of({"b", "a"}, {2, 1}, {1, 2}), {3, 4, 5, 6});
  write(file, run_of({"c"}, {3}, {1}), {7});
  write(file, run_of({"a"}, {1}, {2}), {8});
  const Database database(file);
  const auto all = Nights(database, 4, 30).of(0);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].estimate->tokens_s, 2);
  EXPECT_EQ(all[1].estimate->tokens_s, 6);
  EXPECT_FALSE(all[2].estimate);
  EXPECT_EQ(all[3].estimate->tokens_s, 8);
  EXPECT_EQ(Nights(database, 4, 2).count(), 2u);
}

TEST(Nights, FollowPricesAndFactsAsEachRunStoresThem) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  const auto with_rent = [](std::optional<double> rent) {
    RunInfo info = run_of({"a"}, {1}, {1});
    if (rent) info.grids[0].digits[4].push_back({"rent_per_hour", {*rent}});
    return info;
  };
  write(file, with_rent({}), {1});
  write(file, with_rent(0.4), {2});
  write(file, with_rent(0.5), {3});
  const std::vector<const Column*> followed{find_column("rent_per_hour"), find_column("tokens_s")};
  const Database database(file);
  const auto all = Nights(database, 3, 30).of(0, followed);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].values, (std::vector<Value>{Value(), Value(1.0)}));
  EXPECT_EQ(all[1].values, (std::vector<Value>{Value(0.4), Value(2.0)}));
  EXPECT_EQ(all[2].values, (std::vector<Value>{Value(0.5), Value(3.0)}));
}

TEST(Csv, SelectsColumnsAndRows) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  write(file, run_of({"a", "b"}, {1, 2}, {1, 2}), {10, 20, 30, 40});
  const Database database(file);
  const Condition where("tokens_s > 10 and model <> 'b' or batch = 2", {"result"});
  std::ostringstream out;
  const std::vector<const Column*> selected{find_column("tokens_s"), find_column("model")};
  write_csv(out, database, 1, selected, &where);
  EXPECT_EQ(out.str(), "tokens_s,model\r\n20,a\r\n40,b\r\n");
}

}  // namespace
}  // namespace headroom::report
