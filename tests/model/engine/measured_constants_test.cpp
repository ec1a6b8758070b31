// Constants of cells without a measurement follow from the engine's own constants and from the
// effects of cards and widths.
#include "model/engine/measured_constants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/engine/policy_rows.hpp"

namespace headroom::model {
namespace {

constexpr auto gddr = static_cast<std::size_t>(CardClass::gddr);
constexpr auto hbm = static_cast<std::size_t>(CardClass::hbm);
constexpr auto sixteen = static_cast<std::size_t>(Width::sixteen);
constexpr auto four = static_cast<std::size_t>(Width::four);

constexpr const char* constants =
    "runtimes\tconstant\tcards\twidth\tvalue\tlow\thigh\tmeasurements\tsource\n"
    "calm\tdecode_bandwidth\tany\tany\t0.55555555\t0.5\t0.61728394\t3\ta\n"
    "calm\tdecode_bandwidth\tgddr\t4-bit\t0.7\t0.6\t0.8\t2\tb\n"
    "calm\tdecode_bandwidth\thbm\t4-bit\t0.3\t0.2\t0.4\t0\tpooled\n";
constexpr const char* effects =
    "family\tconstant\thbm\thopper\tgddr\tada\tradeon\tapple\tother\t16-bit\tfp8\t8-bit\t4-bit\t"
    "fp4\tspread\n"
    "calm\tdecode_bandwidth\t1.1\t1\t0.9\t1\t1\t1\t1\t1.2\t1\t1\t0.8\t1\t0.2\n";

const Constant& cell(const std::vector<Engine>& rows, std::size_t cards, std::size_t width) {
  return std::ranges::find(rows, "calm", &Engine::name)
      ->kernels.efficiency[cards][width]
      .decode_bandwidth;
}

TEST(MeasuredConstants, CellsFollowFromEffects) {
  std::vector<Engine> rows = policy_rows();
  apply_measured(rows, constants, effects);
  // 0.55555555 * 1.1 * 1.2 = 0.73333, rounded to four digits
  EXPECT_EQ(cell(rows, hbm, sixteen).value, 0.7333);
  EXPECT_EQ(cell(rows, gddr, sixteen).value, 0.6);
  EXPECT_EQ(cell(rows, hbm, sixteen).measurements, 0);
  // ln(0.617 / 0.5) / 2 = 0.105 and 0.2 add up to 0.226
  EXPECT_NEAR(std::log(cell(rows, hbm, sixteen).high / cell(rows, hbm, sixteen).value), 0.226,
              1e-3);
}

TEST(MeasuredConstants, LinesOfACellComeBeforeEffects) {
  std::vector<Engine> rows = policy_rows();
  apply_measured(rows, constants, effects);
  EXPECT_EQ(cell(rows, gddr, four).value, 0.7);
  EXPECT_EQ(cell(rows, gddr, four).measurements, 2);
  EXPECT_EQ(cell(rows, hbm, four).value, 0.3);
}

/// A line may come before that of any card, which stands in the line of another engine.
TEST(MeasuredConstants, EnginesShareLines) {
  std::vector<Engine> rows = policy_rows();
  apply_measured(rows,
                 "runtimes\n"
                 "calm\tdecode_bandwidth\thbm\t4-bit\t0.3\t0.2\t0.4\t0\tpooled\n"
                 "litgpt, calm\tdecode_bandwidth\tany\tany\t0.5\t0.4\t0.6\t3\ta\n",
                 effects);
  EXPECT_EQ(cell(rows, hbm, four).value, 0.3);
  EXPECT_EQ(cell(rows, gddr, four).value, 0.36);  // 0.5 * 0.9 * 0.8
  EXPECT_EQ(std::ranges::find(rows, "litgpt", &Engine::name)
                ->kernels.efficiency[hbm][four]
                .decode_bandwidth.value,
            0.5);
}

/// No kernel reads faster than its card's memory.
TEST(MeasuredConstants, SharesOfThePeakStopAtOne) {
  std::vector<Engine> rows = policy_rows();
  apply_measured(rows,
                 "runtimes\n"
                 "calm\tdecode_bandwidth\tany\tany\t0.9\t0.8\t1\t3\ta\n"
                 "calm\tkernel_s\tany\tany\t1.5\t1\t2\t3\ta\n",
                 effects);
  EXPECT_EQ(cell(rows, hbm, sixteen).value, 1);  // 0.9 * 1.1 * 1.2 is above it
  EXPECT_EQ(cell(rows, gddr, sixteen).value, 0.972);
  EXPECT_EQ(std::ranges::find(rows, "calm", &Engine::name)
                ->kernels.efficiency[hbm][sixteen]
                .kernel_s.value,
            1.5)
      << "seconds have no peak";
}

/// A rate is below 1, or a number of microseconds. Large values round in the same way.
TEST(MeasuredConstants, FourDigitsOfAnySize) {
  const NamedConstant seconds{"kernels", "kernel_s"};
  const CellFactors none{.by_card = {1, 1, 1, 1, 1, 1}, .by_width = {1, 1, 1, 1, 1}};
  for (const auto& [value, rounded] :
       {std::pair{1.23456e-6, 1.235e-6}, {0.98765, 0.9877}, {123456.0, 123500.0}})
    EXPECT_EQ(of_cell(seconds, {value, value, value, 1, {}}, none, 0, 0).value, rounded);
}

/// If an engine's family has no effects, its rate is the same on every card.
TEST(MeasuredConstants, WithoutEffectsCellsAreAlike) {
  std::vector<Engine> rows = policy_rows();
  apply_measured(rows, constants, "family\n");
  EXPECT_EQ(cell(rows, hbm, sixteen).value, 0.55555555);
}

}  // namespace
}  // namespace headroom::model
