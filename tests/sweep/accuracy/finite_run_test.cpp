// The share of a benchmark's requests that start together.
#include "sweep/accuracy/finite_run.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace headroom::sweep {
namespace {

std::optional<double> share(const std::string& requests, Size batch) {
  Measurement row;
  row.fields["requests"] = requests;
  return share_together(row, batch);
}

TEST(FiniteRun, StartsAsManyRequestsTogetherAsRunAtOnce) {
  EXPECT_EQ(share("128", 64), 0.5) << "two waves";
  EXPECT_EQ(share("10", 64), 1) << "no more than all";
  EXPECT_EQ(share("steady", 64), 0) << "the median request comes later";
  EXPECT_EQ(share("", 64), std::nullopt);
}

}  // namespace
}  // namespace headroom::sweep
