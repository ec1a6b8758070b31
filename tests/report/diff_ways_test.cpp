// Best ways before and after, facts and prices that changed, and texts of conditions.
#include <gtest/gtest.h>

#include <sstream>

#include "diff_runs.hpp"
#include "report/condition.hpp"
#include "report/diff.hpp"

namespace headroom::report {
namespace {

/// Models at two precisions on `machines`. `rent`: by machine; 0: none.
RunInfo ways_of(const std::vector<std::string>& models, const std::vector<std::string>& machines,
                const std::vector<double>& rent = {}) {
  RunInfo info = run_of(models, std::vector<std::int64_t>(models.size(), 1), {1});
  auto& digits = info.grids[0].digits;
  digits[1].push_back(
      numbers("parameters", std::vector<std::int64_t>(models.size(), 8'000'000'000)));
  digits[2] = {texts("precision", {"bf16", "q4"})};
  Axis names = texts("machine", machines);
  for (const auto& machine : machines)
    names.fingerprints.push_back(static_cast<std::int64_t>(std::hash<std::string>()(machine)));
  digits[4] = {names};
  if (!rent.empty()) {
    digits[4].push_back({"rent_per_hour", {rent.begin(), rent.end()}});
    digits[4].push_back(texts("currency", std::vector<std::string>(rent.size(), "EUR")));
  }
  return info;
}

model::Estimate on_card(double speed, Size bytes) {
  model::Estimate e = outcome(speed);
  e.gpus_used = 1;
  e.queued = 0;
  e.sure = model::Confidence::yes;
  e.weights = Bytes(bytes);
  return e;
}
model::Estimate wide(double speed) { return on_card(speed, 16'000'000'000); }
model::Estimate narrow(double speed) { return on_card(speed, 4'000'000'000); }
model::Estimate short_of_memory() {
  model::Estimate e = outcome(0, model::Verdict::does_not_fit);
  e.reason = model::Reason::gpu_memory;
  return e;
}

void write_run(const std::filesystem::path& file, const RunInfo& info,
               const std::vector<model::Estimate>& all) {
  Store store(file);
  store.begin_run(info);
  store.append(0, all);
  store.finish_run();
}

std::vector<std::string> words_of_inputs(const Diff& diff) {
  std::vector<std::string> all;
  for (const auto& each : diff.inputs()) all.push_back(words_of(each));
  return all;
}

TEST(BestWays, OneMachineStandsInForAnotherAndTheGravestChangeIsFirst) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  write_run(
      file, ways_of({"same", "faster", "narrower", "lost"}, {"old"}),
      {wide(10), narrow(30), wide(10), narrow(30), wide(10), narrow(30), wide(10), narrow(5)});
  write_run(file, ways_of({"same", "faster", "narrower", "lost"}, {"new"}),
            {wide(10.05), narrow(90), wide(20), narrow(30), short_of_memory(), narrow(30),
             short_of_memory(), short_of_memory()});
  const Database database(file);
  const Diff diff(database, 1, 2);
  std::vector<std::pair<std::string, WayChange>> found;
  for (const BestWay& way : best_ways(diff)) {
    EXPECT_EQ(way.machine_before, "old");
    EXPECT_EQ(way.machine, "new");
    found.emplace_back(way.model, change_of(way, diff.threshold()));
  }
  const std::vector<std::pair<std::string, WayChange>> expected{{"lost", WayChange::worse_verdict},
                                                                {"narrower", WayChange::other_way},
                                                                {"faster", WayChange::speed},
                                                                {"same", WayChange::none}};
  EXPECT_EQ(found, expected);
  const Table table = best_ways_table(diff);
  ASSERT_EQ(table.rows.size(), 3u) << "a way that is as before is no row";
  EXPECT_EQ(table.rows[1][table.index("precision_before")], Value("bf16"));
  EXPECT_EQ(table.rows[1][table.index("precision")], Value("q4"));
  EXPECT_EQ(table.rows[0][table.index("precision")], Value()) << "it does not run";
  EXPECT_EQ(table.rows[2][table.index("cause")], Value("spec: new in place of old"));
  EXPECT_EQ(diff.for_each([](const PointChange&) {}).added, 0);
}

TEST(BestWays, OfSeveralMachinesAreNewAndGone) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  const std::vector<model::Estimate> all(4, wide(10));
  write_run(file, ways_of({"a"}, {"one", "two"}), all);
  write_run(file, ways_of({"a"}, {"three", "four"}), all);
  const Database database(file);
  const Diff diff(database, 1, 2);
  EXPECT_FALSE(diff.replaced());
  const Table table = best_ways_table(diff);
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0][table.index("verdict_before")], Value("not asked"));
  EXPECT_EQ(table.rows[3][table.index("verdict")], Value("not asked"));
}

TEST(Decisions, ThatReadTheSameAreNone) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  model::Estimate sure = outcome(10, model::Verdict::fits_cpu_offload);
  sure.sure = model::Confidence::yes;
  model::Estimate unsure = sure;
  unsure.sure = model::Confidence::marginal;
  write_run(file, run_of({"a"}, {1}, {1}), {sure});
  write_run(file, run_of({"a"}, {1}, {1}), {unsure});
  const Database database(file);
  EXPECT_TRUE(decisions(Diff(database, 1, 2)).rows.empty());
}

TEST(Inputs, NameEachFactThatChangedOnce) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  const auto run = [&](std::int64_t first, const std::string& bandwidth) {
    RunInfo info = ways_of({"a"}, {"1x card", "2x card"});
    info.grids[0].digits[4][0].fingerprints = {first, first + 1};
    for (const auto fingerprint : {first, first + 1})
      info.facts[fingerprint] = {{"card", "card", "bandwidth", bandwidth, "GB/s"},
                                 {"card", "card", "memory", "24.00", "GiB"}};
    return info;
  };
  const std::vector<model::Estimate> all(4, wide(10));
  write_run(file, run(10, "1008"), all);
  write_run(file, run(20, "1100"), std::vector(4, wide(11)));
  const Database database(file);
  const Diff diff(database, 1, 2);
  EXPECT_EQ(words_of_inputs(diff), std::vector<std::string>{"bandwidth of card: 1008 → 1100 GB/s"});
  diff.for_each([](const PointChange& change) {
    EXPECT_EQ(change.cause, "hardware: bandwidth of card: 1008 → 1100 GB/s");
  });
}

TEST(Inputs, NamePricesBeforeAndAfter) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  const std::vector<model::Estimate> all(4, wide(10));
  RunInfo other = ways_of({"a"}, {"one", "two"}, {0.7, 0.9});
  for (AxisValue& currency : other.grids[0].digits[4][2].values) currency = "USD";
  write_run(file, ways_of({"a"}, {"one", "two"}, {0.5, 0.9}), all);
  write_run(file, ways_of({"a"}, {"one", "two"}, {0.4, 0.9}), all);
  write_run(file, other, all);
  const Database database(file);
  EXPECT_EQ(words_of_inputs(Diff(database, 1, 2)),
            std::vector<std::string>{"rent, an hour of one: 0.5 → 0.4 EUR/h"});
  EXPECT_EQ(words_of_inputs(Diff(database, 2, 3)).front(),
            "rent, an hour of one: 0.4 EUR/h → 0.7 USD/h");
}

TEST(Facts, OfARunThatIsPrunedGo) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  for (const std::int64_t machine : {1, 2, 2}) {
    RunInfo info = run_of({"a"}, {7}, {1}, machine);
    info.facts[machine] = {{"card", "card", "memory", std::to_string(machine), "GiB"}};
    write(file, info, {10});
  }
  EXPECT_EQ(Database(file).run(1).facts.at(1).front().value, "1");
  Store(file).prune(1);
  const Database database(file);
  EXPECT_EQ(number(database.query("SELECT count(*) FROM fact", 0).rows[0][0]), 1);
  EXPECT_EQ(database.run(3).facts.at(2).front().value, "2");
}

TEST(Conditions, ReadBestWays) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  write_run(file, ways_of({"a"}, {"card"}, {3.6}), {wide(10), narrow(30)});
  const Database database(file);
  const Source source = source_of(database, 1);
  const auto value = [&](std::string_view name) {
    for (const Column& column : best_way_columns())
      if (column.name == name) return best_way_value(source, source.shown[0], column);
    return Cell();
  };
  EXPECT_EQ(value("best_verdict"), Cell("fits"));
  EXPECT_EQ(value("best_precision"), Cell("bf16"));
  EXPECT_EQ(value("best_tokens_s"), Cell(10.0));
  EXPECT_GT(std::get<double>(value("best_cost_per_million")), 0);
  EXPECT_THROW(Condition("best_verdict = 'fits'", {"result"}), UnknownColumn);
  EXPECT_NO_THROW(Condition("old.best_verdict = new.verdict", {"old", "new"}, best_way_columns()));
}

TEST(Conditions, TextsAreKnownWhereverTheyAreCompared) {
  using Texts = std::vector<ComparedText>;
  EXPECT_EQ(compared_texts("old.verdict = 'fits' and 'it''s' <> new.model"),
            (Texts{{"verdict", "fits"}, {"model", "it's"}}));
  EXPECT_EQ(compared_texts("new.Verdict NOT IN ('a','b') or x is not 'c'"),
            (Texts{{"verdict", "a"}, {"verdict", "b"}, {"x", "c"}}));
  EXPECT_EQ(compared_texts("verdict like 'fits%' or tokens_s > 3 or length('x') = 1"), Texts());
}

}  // namespace
}  // namespace headroom::report
