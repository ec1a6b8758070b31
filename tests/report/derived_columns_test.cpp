// Packed fields and intervals: what SQL gives for a stored point is what C++ gives for its
// estimate.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "fixture.hpp"
#include "model/infer/intervals.hpp"
#include "report/columns.hpp"
#include "report/packed_field.hpp"
#include "report/read.hpp"

namespace headroom::report::test {
namespace {

using model::Estimate;
using model::Interval;
using model::IntervalFactors;

constexpr std::string_view interval_names[] = {"memory",       "load",         "ttft",
                                               "tpot",         "offload",      "ram_stated",
                                               "serving_ttft", "serving_tpot", "serving_rate"};
constexpr Size engines = 8, points_of_engine = 128;  // per kind of host

class Drawn {
 public:
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  Size whole(Size low, Size high) {
    return std::uniform_int_distribution<Size>(low, high)(random_);
  }
  bool coin() { return whole(0, 1) == 1; }
  Seconds time() { return Seconds(coin() || coin() ? real(1e-3, 1e3) : infinite); }

  Estimate estimate() {
    Estimate e;
    e.verdict = static_cast<model::Verdict>(whole(0, 5));
    e.first_unmeasured = coin();
    e.step_unmeasured = coin();
    e.first_least = static_cast<std::uint8_t>(whole(0, 127));
    e.step_least = static_cast<std::uint8_t>(whole(0, 127));
    e.gpu_bytes = Bytes(whole(0, Size{1} << 40));
    e.load = time();
    e.ttft = time();
    e.tpot = time();
    e.total = e.ttft + time();
    if (coin())
      e.served = {whole(1, 3), time(), time(), time(), time(), time(), real(0.1, 9), real(1, 9000)};
    return e;
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  std::mt19937_64 random_{11};
};

struct Engine {
  std::map<std::string_view, Interval> intervals;
  IntervalFactors factors(bool ram_stated) const {
    return {.memory = intervals.at("memory"),
            .load = intervals.at("load"),
            .ttft = intervals.at("ttft"),
            .tpot = intervals.at("tpot"),
            .offload = intervals.at(ram_stated ? "ram_stated" : "offload"),
            .serving_ttft = intervals.at("serving_ttft"),
            .serving_tpot = intervals.at("serving_tpot"),
            .serving_rate = intervals.at("serving_rate")};
  }
};

std::vector<Engine> drawn_engines(Drawn& drawn) {
  std::vector<Engine> all(engines);
  for (Engine& engine : all)
    for (const auto name : interval_names)
      engine.intervals[name] = {drawn.real(0.1, 1), drawn.real(1, 6),
                                drawn.coin() ? 0 : static_cast<int>(drawn.whole(1, 99))};
  return all;
}

RunInfo grid_of(const std::vector<Engine>& all) {
  Digit digit{{"runtime", {}}};
  for (Size i = 0; i < engines; ++i)
    digit.front().values.emplace_back("engine " + std::to_string(i));
  for (const auto name : interval_names)
    for (const auto* part : {"low", "high", "measurements"}) {
      Axis& fact = digit.emplace_back(Axis{fmt::format("{}_{}", name, part), {}});
      for (const Engine& engine : all) {
        const Interval& of = engine.intervals.at(name);
        if (std::string_view(part) == "measurements")
          fact.values.emplace_back(std::int64_t{of.measurements});
        else
          fact.values.emplace_back(std::string_view(part) == "low" ? of.low : of.high);
      }
    }
  std::vector<Size> batches(points_of_engine);
  for (Size i = 0; i < points_of_engine; ++i) batches[static_cast<std::size_t>(i)] = i + 1;
  Axis batch{"batch", {}};
  for (const Size b : batches) batch.values.emplace_back(b);
  return {"drawn",
          "",
          "f",
          "1",
          {GridShape{{digit,
                      {texts("machine", {"assumed", "stated"}), numbers("ram_stated", {0, 1})},
                      {batch}}}}};
}

TEST(DerivedColumns, SqlGivesWhatTheExpressionGivesInCpp) {
  Folder folder;
  Drawn drawn;
  const auto all = drawn_engines(drawn);
  std::vector<Estimate> estimates(static_cast<std::size_t>(engines * 2 * points_of_engine));
  for (Estimate& each : estimates) each = drawn.estimate();
  {
    Store store(folder / "r.sqlite");
    store.begin_run(grid_of(all));
    store.append(0, estimates);
    store.finish_run();
  }
  const Table table = Database(folder / "r.sqlite").query("SELECT * FROM result ORDER BY point", 0);
  ASSERT_EQ(table.rows.size(), estimates.size());
  std::size_t values = 0;
  for (std::size_t i = 0; i < estimates.size(); ++i)
    for (std::size_t c = 0; c < columns().size(); ++c) {
      if (columns()[c].kind != ColumnKind::derived) continue;
      const auto host = i / static_cast<std::size_t>(points_of_engine);
      const Cell expected = value_of(columns()[c], estimates[i], all[host / 2].factors(host % 2));
      const Value& found = table.rows[i][c];
      const auto where = fmt::format("{} of point {}", columns()[c].name, i);
      ASSERT_EQ(std::holds_alternative<std::monostate>(found),
                std::holds_alternative<std::monostate>(expected))
          << where;
      if (const auto* x = std::get_if<double>(&expected)) {
        EXPECT_EQ(number(found), *x) << where;
        ++values;
      } else if (const auto* n = std::get_if<std::int64_t>(&expected)) {
        EXPECT_EQ(std::get<std::int64_t>(found), *n) << where;
        ++values;
      }
    }
  EXPECT_GT(values, 10'000u);
}

TEST(DerivedColumns, EachEndIsTheTimeTimesTheFactorThatIsChosen) {
  Drawn drawn;
  const auto all = drawn_engines(drawn);
  const Column& low = *find_column("tpot_s_low");
  const Column& high = *find_column("serving_requests_s_high");
  for (int i = 0; i < 1000; ++i) {
    const Estimate e = drawn.estimate();
    const auto factors = all[static_cast<std::size_t>(i) % all.size()].factors(drawn.coin());
    if (std::isfinite(e.tpot.value())) {
      EXPECT_EQ(value_of(low, e, factors), Cell(e.tpot.value() * factors.times(e).tpot.low));
    }
    if (e.served.running > 0) {
      EXPECT_EQ(value_of(high, e, factors),
                Cell(e.served.requests_s / factors.serving(e).rate.low));
    }
  }
}

/// SQL gives the same: Store.ViewColumnsMatchTheColumnList.
TEST(OutcomeColumns, WeightsOfACardAreKnownWhereAllLayersAreOnCards) {
  const Column& column = *find_column("weights_per_gpu_bytes");
  Estimate e;
  e.weights = Bytes(1001);
  e.layers_gpu = 32;
  e.gpus_used = 2;
  EXPECT_EQ(value_of(column, e, {}), Cell(std::int64_t{500}));
  e.layers_cpu = 1;
  EXPECT_EQ(value_of(column, e, {}), Cell());
  e.layers_cpu = 0, e.layers_disk = 1;
  EXPECT_EQ(value_of(column, e, {}), Cell());
  e.layers_disk = 0, e.task = model::Task::training;
  EXPECT_EQ(value_of(column, e, {}), Cell());
  e.task = model::Task::inference, e.layers_gpu = 0, e.gpus_used = 0;
  EXPECT_EQ(value_of(column, e, {}), Cell());
}

/// A field at its largest value leaves its neighbours as they are.
TEST(PackedFields, EachFieldIsIndependent) {
  for (const PackedField& field : packed::all) {
    std::int64_t column = 0;
    for (const PackedField& other : packed::all)
      if (other.column == field.column && other.name != field.name)
        column |= other.packed(other.most() / 2);
    column |= field.packed(field.most());
    EXPECT_GE(column, 0) << field.name;
    for (const PackedField& other : packed::all) {
      if (other.column != field.column) continue;
      EXPECT_EQ(other.read(column), other.name == field.name ? other.most() : other.most() / 2)
          << field.name << " beside " << other.name;
    }
    EXPECT_THROW((void)field.packed(field.most() + 1), std::out_of_range) << field.name;
    EXPECT_THROW((void)field.packed(-1), std::out_of_range) << field.name;
  }
}

TEST(PackedFields, FieldsThatShareABitOrTheSignAreFound) {
  constexpr PackedField first{"a", "first", 0, 4}, second{"a", "second", 3, 2},
      elsewhere{"b", "elsewhere", 3, 2}, sign{"a", "sign", 60, 4};
  EXPECT_FALSE(packed::are_apart(std::array{first, second}));
  EXPECT_TRUE(packed::are_apart(std::array{first, elsewhere}));
  EXPECT_FALSE(packed::are_apart(std::array{sign}));
}

/// Databases written by earlier versions have these bits.
TEST(PackedFields, HaveTheBitsOfTheTable) {
  Estimate e;
  e.verdict = model::Verdict::fits_cpu_offload;
  e.sure = model::Confidence::marginal;
  e.reason = model::Reason::ram;
  e.gpus_used = 3;
  e.task = model::Task::training;
  e.first_unmeasured = true;
  e.first_least = 5;
  e.step_least = 7;
  e.queued = Size{1} << 40;
  e.layers_gpu = 1;
  e.layers_cpu = 2;
  e.layers_disk = 3;
  const std::int64_t status = 2 + (1 << 3) + (2 << 5) + (3 << 10) + (1 << 26) + (1 << 27) +
                              (std::int64_t{5} << 29) + (std::int64_t{7} << 36);
  EXPECT_EQ(stored_columns()[0].integer(e), status);
  EXPECT_EQ(stored_columns()[1].integer(e), 1 + (2 << 20) + (std::int64_t{3} << 40));
  EXPECT_EQ(stored_columns()[2].integer(e), Size{1} << 40) << "as many as a spec may ask for";
}

}  // namespace
}  // namespace headroom::report::test
