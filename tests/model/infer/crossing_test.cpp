// Rising functions are found to cross 0, and are seldom asked.
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
  const auto above = [&](double x) {
    ++asked.times;
    return rising(x);
  };
  asked.found = crossing({0, rising(0)}, {1, rising(1)}, 1e-6, above);
  return asked;
}

TEST(Crossing, LiesBetweenTwoCloseValues) {
  const auto cube = [](double x) { return x * x * x - 0.2; };
  const auto steep = [](double x) { return std::exp(30 * x) - 1e6; };
  const auto step = [](double x) { return x < 0.7 ? -1.0 : 1e9; };
  for (const std::function<double(double)>& each :
       {std::function<double(double)>(cube), std::function<double(double)>(steep),
        std::function<double(double)>(step)}) {
    const auto [found, times] = search(each);
    EXPECT_LE(each(found.before), 0);
    EXPECT_GT(each(found.after), 0);
    EXPECT_LE(found.after - found.before, 1e-6);
    EXPECT_LE(times, 22) << "halving takes 20";
  }
  EXPECT_LE(search(cube).times, 8);
}

}  // namespace
}  // namespace headroom::model
