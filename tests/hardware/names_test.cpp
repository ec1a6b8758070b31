// Mistyped names find the intended ones.
#include "hardware/names.hpp"

#include <gtest/gtest.h>

namespace headroom {
namespace {

const std::vector<std::string> cards = {"a100-sxm-40gb", "a100-sxm-80gb", "h100-sxm-80gb",
                                        "rtx-4090", "rtx-3090"};

TEST(Names, NearestIsBestFirst) {
  EXPECT_EQ(nearest("rtx-4080", cards, 1), std::vector<std::string>{"rtx-4090"});
  EXPECT_EQ(nearest("h100-sxm-8gb", cards, 1), std::vector<std::string>{"h100-sxm-80gb"});
}

TEST(Names, NearestIgnoresCase) {
  EXPECT_EQ(nearest("RTX-3O90", cards, 1), std::vector<std::string>{"rtx-3090"});
}

TEST(Names, PartOfANameFindsAllMatches) {
  const std::vector<std::string> both = {"a100-sxm-40gb", "a100-sxm-80gb"};
  EXPECT_EQ(nearest("a100", cards, 2), both);
}

TEST(Names, NearestReturnsNoMoreThanThereAre) {
  EXPECT_EQ(nearest("x", cards, 99).size(), cards.size());
  EXPECT_TRUE(nearest("x", {}, 3).empty());
}

TEST(Names, UnknownNameListsNearestNames) {
  const std::string message = unknown_name("device", "rtx4090", cards).what();
  EXPECT_NE(message.find("unknown device 'rtx4090'"), std::string::npos) << message;
  EXPECT_NE(message.find("nearest: rtx-4090"), std::string::npos) << message;
}

TEST(Names, UnknownNameStaysOneLine) {
  const std::string message = unknown_name("device", "rtx\n\x1b[31m\t4090", cards).what();
  EXPECT_NE(message.find("'rtx\\x0a\\x1b[31m\\x094090'"), std::string::npos) << message;
}

TEST(Names, LowerTouchesOnlyAsciiLetters) { EXPECT_EQ(lower("Ab-Ä_9Z"), "ab-Ä_9z"); }

}  // namespace
}  // namespace headroom
