// The solver of pooled effects: the rows lead to its result from several starts.
#include "bench/fit/pooled_solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom::sweep {
namespace {

/// Each row takes the longer of two times, one of bytes and one of launches, as kernels do. Bytes
/// took longer in every measurement.
struct LongerOfTwo {
  static constexpr std::size_t rows = 20;
  std::vector<double> effects = {0, 0};

  double residual(std::size_t row, double bytes, double launches) const {
    const double noise = 0.05 * std::sin(7.0 * static_cast<double>(row));
    return std::max(-effects[0] - bytes, 0.4 - effects[1] - launches) + 0.3 - noise;
  }
  PooledProblem problem() {
    PooledProblem all;
    all.spreads = {1, 1};
    all.slots.assign(rows, {{{0}}, {{1}}});
    all.weights.assign(rows, 1);
    all.groups.assign(rows, "times");
    all.apply = [this](const std::vector<double>& now) { effects = now; };
    all.residual = [this](std::size_t row) { return residual(row, 0, 0); };
    all.residual_moved = [this](std::size_t row, std::size_t slot, double step) {
      return residual(row, slot == 0 ? step : 0, slot == 0 ? 0 : step);
    };
    return all;
  }
};

/// No row tells of launches where they take less than bytes. Their effect is pulled to 0, where
/// they would take longer. The search must go on with the other effects nevertheless.
TEST(PooledSolver, AnEffectWithoutRowsDoesNotEndTheSearch) {
  LongerOfTwo times;
  PooledSolver solver(times.problem());
  for (const std::vector<double>& start : {std::vector<double>{0.2, 1}, {0.6, 1}, {0, 2}, {1, 2}}) {
    solver.set_effects(start);
    solver.solve(std::vector<bool>(LongerOfTwo::rows, true));
    EXPECT_NEAR(solver.effects()[0], 0.3, 0.07) << start[0] << ' ' << start[1];
    EXPECT_NEAR(times.residual(0, 0, 0), 0, 0.07) << start[0] << ' ' << start[1];
  }
}

}  // namespace
}  // namespace headroom::sweep
