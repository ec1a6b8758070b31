// Columns and intervals of the view of a run.
#include <gtest/gtest.h>

#include <functional>

#include "fixture.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "report/columns.hpp"
#include "report/read.hpp"
#include "report/view.hpp"

namespace headroom::report {
namespace {

/// Points of small_run: three batches in each of two precisions of each model.
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
      factors.offload = ram_stated(point) ? model::Interval{0.5, 2.5, 9}  // interval of the same
                                                                          // run
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

TEST(Store, ViewColumnsMatchTheColumnList) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  expect_columns(folder / "r.sqlite", [](Size point) { return made_up(point); });
}

/// Serving outcomes are in their own table, with rows only for such points.
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

}  // namespace
}  // namespace headroom::report
