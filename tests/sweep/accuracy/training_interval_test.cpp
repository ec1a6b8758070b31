// The interval of training memory, made anew from the measured rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "sweep/accuracy/training_measurement.hpp"
#include "tests/support/paths.hpp"

namespace headroom::sweep {
namespace {

struct Weighed {
  double ratio, weight;
};

double quantile_of(std::vector<Weighed> all, double share) {
  std::ranges::sort(all, {}, &Weighed::ratio);
  double sum = 0, below = 0;
  for (const Weighed& each : all) sum += each.weight;
  for (const Weighed& each : all)
    if ((below += each.weight) >= share * sum) return each.ratio;
  return all.back().ratio;
}

/// Ends of the interval that a score shows, as shares of its uncertain bytes: a score has
/// expected - low = (expected - sure) (1 - spread.low).
double uncertain_of(const Score& score, const model::Constant& spread) {
  return (score.high - score.low) / (spread.high - spread.low);
}

/// Rows of a source err alike, so n of them weigh as sqrt(n). Overheads are those that have no row
/// of any source in them.
TEST(TrainingInterval, IsOfTheErrorsAtLeftOutSources) {
  const model::Constant spread = model::TrainingRuntime{}.spread;
  const auto rows =
      read_measurements(test::source_path("tests/accuracy/canonical/training_memory.csv"));
  TrainingMeasurements measurements("");
  std::map<std::string, std::vector<double>> by_source;
  for (const Measurement& row : rows) {
    if (!is_training(row) || is_training_time(row)) continue;
    try {
      const Score score = measurements.score(row, Overheads::unmeasured);
      const double uncertain = uncertain_of(score, spread);
      by_source[short_source(row["source"])].push_back(1 + (score.measured - score.expected) /
                                                               uncertain);
    } catch (const Skipped&) {
    } catch (const std::invalid_argument&) {
    }
  }
  ASSERT_GE(by_source.size(), 5u);
  std::vector<Weighed> all;
  for (const auto& [source, ratios] : by_source)
    for (const double ratio : ratios)
      all.push_back({ratio, 1 / std::sqrt(static_cast<double>(ratios.size()))});
  EXPECT_NEAR(spread.low, quantile_of(all, 0.1), 0.02);
  EXPECT_NEAR(spread.high, quantile_of(all, 0.9), 0.04);
}

}  // namespace
}  // namespace headroom::sweep
