// Sizes as a screen prints them.
#include "sweep/screen/answer_lines.hpp"

#include <gtest/gtest.h>

#include "hardware/units.hpp"

namespace headroom::sweep {
namespace {

Bytes gib(double amount) { return Bytes(static_cast<Size>(amount * GiB)); }

TEST(AnswerLines, ANeedIsRoundedUp) {
  EXPECT_EQ(in_gib(gib(7.613)), "7.6");
  EXPECT_EQ(enough_gib(gib(7.613)), "7.7");
  EXPECT_EQ(enough_gib(gib(7.5)), "7.5");
  EXPECT_EQ(enough_gib(gib(0.01)), "0.1");
  EXPECT_EQ(enough_gib(gib(999.91)), "1,000");
  EXPECT_EQ(enough_gib(gib(1340.2)), "1,341");
  EXPECT_EQ(enough_gib(Bytes(0)), "0.0");
}

}  // namespace
}  // namespace headroom::sweep
