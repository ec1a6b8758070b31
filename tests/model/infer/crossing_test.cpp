// Rising functions are found to cross 0 where halving finds it, and are seldom asked.
#include "model/infer/crossing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace headroom::model {
namespace {

struct Asked {
  Crossing found;
  int times = 0;
};

Asked search(const std::function<double(double)>& rising) {
  Asked asked;
  const auto at = [&](double x) {
    ++asked.times;
    return Excess{x, rising(x)};
  };
  asked.found = halved({0, rising(0)}, {1, rising(1)}, 20, at);
  return asked;
}

TEST(Crossing, IsWhereHalvingFindsIt) {
  const std::function<double(double)> all[] = {[](double x) { return x * x * x - 0.2; },
                                               [](double x) { return std::exp(30 * x) - 1e6; },
                                               [](double x) { return x < 0.7 ? -1.0 : 1e9; }};
  for (const auto& rising : all) {
    const auto [found, times] = search(rising);
    EXPECT_EQ(found.after - found.before, std::ldexp(1, -20));
    EXPECT_LE(rising(found.before), 0);
    EXPECT_GT(rising(found.after), 0);
    EXPECT_LE(times, 23) << "halving takes 20";
  }
  EXPECT_LE(search(all[0]).times, 9);
}

}  // namespace
}  // namespace headroom::model
