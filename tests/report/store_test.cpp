// The database: what goes in comes out, views decode axes, runs resume, and errors say what is
// wrong.
#include "report/store.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <functional>

#include "fixture.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/columns.hpp"
#include "report/read.hpp"
#include "report/view.hpp"

namespace headroom::report {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const StoreError& error) {
    return error.what();
  }
  return "no error";
}

/// Of small_run: three batches in each of two precisions of each model.
bool ram_stated(Size point) { return point / 3 % 2 == 1; }

/// Every outcome of `result` is what the column list makes of `estimate_of(point)`.
void expect_columns(const std::filesystem::path& file,
                    const std::function<model::Estimate(Size)>& estimate_of) {
  const Database database(file);
  const Table table = database.query("SELECT * FROM result ORDER BY point", 0);
  ASSERT_EQ(table.rows.size(), 12u);
  ASSERT_EQ(table.names.size(), columns().size());
  model::IntervalFactors factors{.memory = {0.9, 1.1, 0},
                                 .load = {0.25, 4, 0},
                                 .ttft = {0.75, 1.5, 31},
                                 .tpot = {0.5, 2, 42},
                                 .offload = {},
                                 .serving_ttft = {0.125, 5, 0},
                                 .serving_tpot = {0.625, 1.75, 0},
                                 .serving_rate = {0.875, 1.25, 0}};
  for (Size point = 0; point < 12; ++point)
    for (std::size_t c = 0; c < columns().size(); ++c) {
      const Column& column = columns()[c];
      ASSERT_EQ(table.names[c], column.name);
      if (column.kind != ColumnKind::outcome && column.kind != ColumnKind::derived) continue;
      factors.offload = ram_stated(point) ? model::Interval{0.5, 2.5, 9}  // of the same run
                                          : model::Interval{0.375, 3, 17};
      const Cell expected = value_of(column, estimate_of(point), factors);
      const Value& found = table.rows[static_cast<std::size_t>(point)][c];
      const auto where = std::string(column.name) + " of point " + std::to_string(point);
      if (const auto* x = std::get_if<double>(&expected))
        EXPECT_DOUBLE_EQ(number(found), *x) << where;
      else if (const auto* n = std::get_if<std::int64_t>(&expected))
        EXPECT_EQ(std::get<std::int64_t>(found), *n) << where;
      else if (const auto* s = std::get_if<std::string_view>(&expected))
        EXPECT_EQ(text(found), *s) << where;
      else
        EXPECT_TRUE(std::holds_alternative<std::monostate>(found)) << where;
    }
}

TEST(Store, EveryColumnOfTheViewIsWhatTheColumnListSays) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  expect_columns(folder / "r.sqlite", [](Size point) { return made_up(point); });
}

/// What is served is in a table of its own, with rows for such points alone.
TEST(Store, ServedPointsComeBackWithTheirIntervalsAndTheOthersWithout) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  const auto some = [](Size point) {
    model::Estimate e = point < 6 ? made_up(point) : made_up_served(point);
    e.first_unmeasured = point % 2 == 1;
    e.step_unmeasured = point % 4 > 1;
    e.first_least = static_cast<std::uint8_t>(20 * (point % 7));
    e.step_least = static_cast<std::uint8_t>(127 - 20 * (point % 7));
    if (e.served.running > 0 && point % 2 == 0) e.served.running = 1;  // no narrower than alone
    return e;
  };
  {
    Store store(file);
    store.begin_run(small_run());
    std::vector<model::Estimate> all;
    for (Size point = 0; point < 12; ++point) all.push_back(some(point));
    store.append(0, all);
    store.finish_run();
  }
  expect_columns(file, some);
  const Database database(file);
  EXPECT_EQ(number(database.query("SELECT count(*) FROM serving_outcome", 0).rows[0][0]), 4);
  database.for_each(1, [&](Size point, const model::Estimate& e) {
    EXPECT_EQ(e.served.running, some(point).served.running) << point;
    EXPECT_EQ(e.served.total_p95, some(point).served.total_p95) << point;
    EXPECT_EQ(e.first_unmeasured, some(point).first_unmeasured) << point;
    EXPECT_EQ(e.step_unmeasured, some(point).step_unmeasured) << point;
    EXPECT_EQ(e.first_least, some(point).first_least) << point;
    EXPECT_EQ(e.step_least, some(point).step_least) << point;
    EXPECT_EQ(e.served.output_tokens_s, some(point).served.output_tokens_s) << point;
  });
  // Nothing stands behind a time that was not measured; the others have the rows of their engine.
  EXPECT_EQ(number(database
                       .query("SELECT count(*) FROM result WHERE ttft_s_measurements = 0 AND "
                              "point % 2 = 1 AND verdict IN ('fits_one_gpu', 'fits_gpus')",
                              0)
                       .rows[0][0]),
            3);
  const Table best = database.query(std::string(view("serving").sql), 1);
  ASSERT_FALSE(best.rows.empty());
}

TEST(Store, TheIntervalOfTheViewIsThatOfTheEstimate) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  const Table t =
      Database(folder / "r.sqlite")
          .query(
              "SELECT gpu_bytes_low, gpu_bytes_high, load_s_low, load_s_high, ttft_s_low, "
              "ttft_s_high, tpot_s_low, tpot_s_high, total_s_low, total_s_high, "
              "ttft_s_measurements, tpot_s_measurements "
              "FROM result ORDER BY point",
              0);
  for (Size point = 0; point < 12; ++point) {
    const auto& row = t.rows.at(static_cast<std::size_t>(point));
    const model::Estimate e = made_up(point);
    EXPECT_EQ(number(row[0]), e.gpu_bytes_low.real().value());
    EXPECT_EQ(number(row[1]), e.gpu_bytes_high.real().value());
    if (e.verdict == model::Verdict::does_not_fit) {
      EXPECT_TRUE(std::holds_alternative<std::monostate>(row[4]));
      continue;
    }
    // Each kind of time has its own interval; with weights outside the cards there is one for both,
    // by what is known of the host.
    const bool on_cards = e.verdict <= model::Verdict::fits_gpus;
    const double low = ram_stated(point) ? 0.5 : 0.375, high = ram_stated(point) ? 2.5 : 3.0;
    const int rows = ram_stated(point) ? 9 : 17;
    const double first = e.ttft.value(), rest = e.total.value() - first;
    EXPECT_EQ(number(row[2]), 0.25 * e.load.value());
    EXPECT_EQ(number(row[3]), 4.0 * e.load.value());
    EXPECT_EQ(number(row[4]), (on_cards ? 0.75 : low) * first);
    EXPECT_EQ(number(row[5]), (on_cards ? 1.5 : high) * first);
    EXPECT_EQ(number(row[6]), (on_cards ? 0.5 : low) * e.tpot.value());
    EXPECT_EQ(number(row[7]), (on_cards ? 2.0 : high) * e.tpot.value());
    EXPECT_DOUBLE_EQ(number(row[8]), on_cards ? 0.75 * first + 0.5 * rest : low * (first + rest));
    EXPECT_EQ(number(row[10]), on_cards ? 31 : rows);
    EXPECT_EQ(number(row[11]), on_cards ? 42 : rows);
    EXPECT_DOUBLE_EQ(number(row[9]), on_cards ? 1.5 * first + 2.0 * rest : high * (first + rest));
  }
}

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
      all[i].reason = static_cast<model::Reason>(i % 27);
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
    EXPECT_EQ(text(t.rows[i][2]), name_of(static_cast<model::Reason>(i % 27)));
    EXPECT_EQ(number(t.rows[i][3]), static_cast<double>(65535 - i));
  }
  EXPECT_TRUE(name_of(static_cast<model::Reason>(27)).empty()) << "more reasons than are tested";
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
  return {"other", "spec of the other", "f2", "0.1.0", {linked, budgets}, {{"x", "a hub, it's"}}};
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
  const Table t = Database(folder / "r.sqlite")
                      .query("SELECT name, unit, meaning FROM column_meaning ORDER BY rowid", 0);
  ASSERT_EQ(t.rows.size(), columns().size());
  for (std::size_t i = 0; i < t.rows.size(); ++i) {
    EXPECT_EQ(text(t.rows[i][0]), columns()[i].name);
    EXPECT_EQ(text(t.rows[i][1]), columns()[i].unit);
    EXPECT_FALSE(text(t.rows[i][2]).empty());
  }
}

TEST(Store, ACompleteRunIsOnePlainFile) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  EXPECT_EQ(Database(folder / "r.sqlite").latest_run(), 1);
}

TEST(StoreErrors, AFileThatIsNoDatabase) {
  Folder folder;
  std::ofstream(folder / "text.sqlite") << std::string(5000, 'x');
  EXPECT_NE(message_of([&] { Store store(folder / "text.sqlite"); }).find("not an sqlite database"),
            std::string::npos);
  EXPECT_NE(message_of([&] { Database database(folder / "text.sqlite"); }).find("not an sqlite"),
            std::string::npos);
}

void change(const std::filesystem::path& file, const char* sql) {
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &raw), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(raw, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
}

TEST(StoreErrors, ADatabaseOfSomethingElse) {
  Folder folder;
  change(folder / "r.sqlite", "CREATE TABLE notes (a)");
  EXPECT_NE(message_of([&] { Store store(folder / "r.sqlite"); }).find("not one of headroom's"),
            std::string::npos);
}

TEST(StoreErrors, AnotherSchemaVersion) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  change(folder / "r.sqlite", "PRAGMA user_version = 7");
  const auto message = message_of([&] { Store store(folder / "r.sqlite"); });
  EXPECT_NE(message.find("schema 00000007"), std::string::npos) << message;
  EXPECT_NE(message_of([&] { Database database(folder / "r.sqlite"); }).find("schema 00000007"),
            std::string::npos);
}

TEST(StoreErrors, ACutOffFile) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  std::filesystem::resize_file(folder / "r.sqlite", 20000);
  const auto message = message_of([&] {
    Database database(folder / "r.sqlite");
    database.query("SELECT count(*) FROM result_all", 0);
  });
  EXPECT_NE(message.find("damaged or cut off"), std::string::npos) << message;
}

TEST(StoreErrors, NoSuchFileToRead) {
  Folder folder;
  EXPECT_NE(message_of([&] { Database database(folder / "none.sqlite"); }).find("no such database"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "none.sqlite"));
}

TEST(StoreErrors, ASecondSweepOnTheSameFile) {
  Folder folder;
  {
    Store store(folder / "r.sqlite");
    EXPECT_NE(message_of([&] { Store second(folder / "r.sqlite"); }).find("another sweep"),
              std::string::npos);
  }
  EXPECT_EQ(message_of([&] { Store third(folder / "r.sqlite"); }), "no error");
  EXPECT_FALSE(std::filesystem::exists(folder / "r.sqlite-lock"));
}

TEST(StoreErrors, AFolderThatCannotBeMade) {
  Folder folder;
  std::ofstream(folder / "file") << "x";
  const auto message = message_of([&] { Store store(folder / "file" / "r.sqlite"); });
  EXPECT_NE(message.find("file"), std::string::npos);
  EXPECT_NE(message, "no error");
}

/// Lets no file of this process grow beyond `bytes` while it lives: as near to a full disk as any
/// user gets.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(StoreErrors, NoRoomLeftKeepsWhatWasCommittedAndResumes) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  RunInfo large = small_run("large");
  large.grids[0].digits.push_back({numbers("prompt_tokens", std::vector<std::int64_t>(5000, 1))});
  {
    Store store(file);
    store.begin_run(large);
    store.append(0, made_up(0, 1000));
    const FileSizeLimit limit(2'000'000);
    EXPECT_NE(message_of([&] { store.append(1000, made_up(1000, 50'000)); }), "no error");
    EXPECT_EQ(store.next_point(), 1000);
  }
  Store store(file);
  store.begin_run(large);
  EXPECT_EQ(store.next_point(), 1000);
  store.append(1000, made_up(1000, 59'000));
  store.finish_run();
  EXPECT_EQ(number(Database(file).query("SELECT count(*) FROM result", 0).rows[0][0]), 60'000);
}

}  // namespace
}  // namespace headroom::report
