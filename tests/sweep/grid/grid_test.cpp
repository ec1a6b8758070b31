// The grid is a bijection between indices and digits.
#include "sweep/grid/grid.hpp"

#include <gtest/gtest.h>

#include <random>

namespace headroom::sweep {
namespace {

TEST(Grid, IsABijection) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Size> radices(1 + random() % 6);
    for (auto& radix : radices) radix = 1 + static_cast<Size>(random() % 7);
    const Grid grid(radices);
    std::vector<Size> digits(radices.size()), counted(radices.size(), 0);
    for (Size i = 0; i < grid.size(); ++i) {
      grid.decode(i, digits);
      ASSERT_EQ(digits, counted);  // advancing from zero visits every combination in order
      for (std::size_t k = 0; k < radices.size(); ++k) ASSERT_LT(digits[k], radices[k]);
      ASSERT_EQ(grid.encode(digits), i);
      grid.advance(counted);
    }
    EXPECT_EQ(counted, std::vector<Size>(radices.size(), 0));
  }
}

TEST(Grid, IncludesDistantPoints) {
  const Grid grid({1'000'000, 1, 1'000'000});
  EXPECT_EQ(grid.size(), max_points);
  std::vector<Size> digits(3);
  grid.decode(max_points - 1, digits);
  EXPECT_EQ(digits, (std::vector<Size>{999'999, 0, 999'999}));
  EXPECT_EQ(grid.encode(digits), max_points - 1);
}

TEST(Grid, RefusesWhatHasNoEndOrNoPoint) {
  EXPECT_THROW(Grid({1'000'000, 1'000'000, 2}), std::length_error);
  EXPECT_THROW(Grid({Size{1} << 40, Size{1} << 40}), std::length_error);
  EXPECT_THROW(Grid({2, 0}), std::invalid_argument);
}

}  // namespace
}  // namespace headroom::sweep
