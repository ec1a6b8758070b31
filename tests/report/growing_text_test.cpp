// A text that grows, and texts of numbers.
#include "report/growing_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace headroom::report {
namespace {

std::string text_of(auto... values) {
  NumberText number;
  GrowingText text;
  const auto add = [&](auto value) {
    number.set(value);
    text.append(number);
    text.append(' ');
  };
  (add(values), ...);
  return std::string(text.view());
}

TEST(GrowingText, HoldsWhatWasAppendedAcrossEachGrowth) {
  GrowingText text;
  std::string expected;
  EXPECT_EQ(text.view(), "");
  for (int round = 0; round < 2; ++round) {
    text.clear();
    expected.clear();
    for (int length = 0; length < 200; ++length) {
      const std::string piece(static_cast<std::size_t>(length),
                              static_cast<char>('a' + length % 26));
      text.append(piece);
      text.append(',');
      expected += piece + ',';
      ASSERT_EQ(text.view(), expected);
    }
  }
}

TEST(NumberText, EqualBitsOfAnotherTypeAreAnotherNumber) {
  EXPECT_EQ(text_of(std::int64_t{0}, 0.0, -0.0, std::int64_t{0}), "0 0 -0 0 ");
  const auto bits = std::int64_t{0x3ff8000000000000};
  EXPECT_EQ(text_of(bits, 1.5, bits, bits),
            "4609434218613702656 1.5 4609434218613702656 4609434218613702656 ");
}

TEST(NumberText, TheLongestNumbersHaveRoom) {
  EXPECT_EQ(text_of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808 ");
  EXPECT_EQ(text_of(-1.2345678901234567e-308), "-1.2345678901234567e-308 ");
  EXPECT_EQ(text_of(-12345678901234567e6), "-1.2345678901234568e+22 ");
  EXPECT_EQ(text_of(0.00001234567890123456), "1.234567890123456e-05 ");
}

}  // namespace
}  // namespace headroom::report
