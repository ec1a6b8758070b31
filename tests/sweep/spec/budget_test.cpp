// The grammar of memory budgets, and what budgets come to on a card.
#include "sweep/spec/budget.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace headroom::sweep {
namespace {

using namespace headroom::literals;

std::vector<Bytes> bytes_of(const std::vector<std::string>& texts, Bytes memory) {
  std::vector<BudgetRange> ranges;
  for (const auto& text : texts) ranges.push_back(parse_budgets(text));
  std::vector<Bytes> all;
  for (const CardBudget& budget : budgets(ranges, memory)) all.push_back(budget.bytes);
  return all;
}

/// "2147483648", "50%": sizes in bytes, others as they are kept.
std::vector<std::string> words_of(const std::vector<std::string>& texts, Bytes memory) {
  std::vector<BudgetRange> ranges;
  for (const auto& text : texts) ranges.push_back(parse_budgets(text));
  std::vector<std::string> all;
  for (const CardBudget& budget : budgets(ranges, memory)) {
    const auto relative = budget.asked.relative();
    all.push_back(relative.empty() ? std::to_string(budget.bytes.count()) : relative);
  }
  return all;
}

std::string complaint(std::string_view text) {
  try {
    parse_budgets(text);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

using All = std::vector<Bytes>;
using Words = std::vector<std::string>;

TEST(Budget, RangeReachesEachCardsOwnMemory) {
  EXPECT_EQ(bytes_of({"0-max+1GiB"}, 2_GiB), (All{Bytes(0), 1_GiB, 2_GiB}));
  const Bytes odd((1_GiB).count() * 5 / 2);
  EXPECT_EQ(bytes_of({"0-max+1GiB"}, odd), (All{Bytes(0), 1_GiB, 2_GiB, odd}));
  EXPECT_EQ(bytes_of({"0-max+1GiB"}, Bytes(0)), All{Bytes(0)});
}

TEST(Budget, BeyondTheCardIsTheWholeCardOnce) {
  EXPECT_EQ(bytes_of({"8GiB", "24GiB", "40GiB", "80GiB"}, 30_GiB), (All{8_GiB, 24_GiB, 30_GiB}));
  EXPECT_EQ(bytes_of({"1GiB-9GiB+4GiB"}, 6_GiB), (All{1_GiB, 5_GiB, 6_GiB}));
  EXPECT_EQ(bytes_of({"max"}, 6_GiB), All{6_GiB});
  EXPECT_EQ(bytes_of({"8GB"}, 30_GiB), All{Bytes(8'000'000'000)});
}

TEST(Budget, IsAShareOfTheCardOrWhatASizeLeaves) {
  EXPECT_EQ(bytes_of({"50%"}, 24_GiB), All{12_GiB});
  EXPECT_EQ(bytes_of({"33.3333%"}, Bytes(1'000'000)), All{Bytes(333'333)});
  EXPECT_EQ(bytes_of({"50%"}, Bytes(7)), All{Bytes(3)}) << "rounded down";
  EXPECT_EQ(bytes_of({"12.5%"}, Bytes((Size{1} << 62) + 5)), All{Bytes(Size{1} << 59)});
  EXPECT_EQ(bytes_of({"max-2GiB"}, 24_GiB), All{22_GiB});
  EXPECT_EQ(bytes_of({" max - 2 GiB "}, 24_GiB), All{22_GiB});
  EXPECT_EQ(bytes_of({"max-32GiB"}, 24_GiB), All{Bytes(0)});
  EXPECT_EQ(bytes_of({"100%"}, 24_GiB), All{24_GiB});
  EXPECT_EQ(bytes_of({"0%"}, 24_GiB), All{Bytes(0)});
}

TEST(Budget, RangesGoInSizesOrInShares) {
  EXPECT_EQ(words_of({"25%-100%+25%"}, 8_GiB), (Words{"25%", "50%", "75%", "max"}));
  EXPECT_EQ(words_of({"0-max+40%"}, 8_GiB), (Words{"0", "40%", "80%", "max"}));
  EXPECT_EQ(words_of({"10%-60%+20%"}, 8_GiB), (Words{"10%", "30%", "50%"}));
  EXPECT_EQ(bytes_of({"0-max-2GiB+4GiB"}, 12_GiB), (All{Bytes(0), 4_GiB, 8_GiB, 10_GiB}));
  EXPECT_EQ(bytes_of({"4GiB-max-1GiB+4GiB"}, 9_GiB), (All{4_GiB, 8_GiB}));
  EXPECT_EQ(words_of({"50%-max-1GiB+20%"}, 8_GiB), (Words{"50%", "70%", "max-1GiB"}));
}

TEST(Budget, OfEqualOnesTheRelativeOneStays) {
  EXPECT_EQ(words_of({"4GiB", "50%"}, 8_GiB), Words{"50%"});
  EXPECT_EQ(words_of({"4GiB", "50%"}, 16_GiB), (Words{"4294967296", "50%"}));
  EXPECT_EQ(words_of({"max-2048MiB", "max-2GiB", "max-2GB"}, 16_GiB),
            (Words{"max-2GiB", "max-2GB"}));
}

TEST(Budget, RefusesWhatIsAmbiguousAndSaysWhatWorks) {
  for (const auto* bad : {"",
                          "8",
                          "-3GB",
                          "0-80+1",
                          "0-max",
                          "0-max*2",
                          "max-0+1GiB",
                          "max-max+1GiB",
                          "max-2GiB+1GiB",
                          "max-2GiB-max+1GiB",
                          "4GiB-1GiB+1GiB",
                          "0-max+0",
                          "50",
                          "101%",
                          "-5%",
                          "%",
                          "nan%",
                          "1e1%",
                          "0.00001%",
                          "max-50%",
                          "max-",
                          "maximum",
                          "50%-2GiB",
                          "4GiB-50%+4GiB",
                          "25%-max+1GiB",
                          "1GiB-max+25%",
                          "50%-25%+5%",
                          "0-max+1GiB+1GiB",
                          "max+1GiB"})
    EXPECT_NE(complaint(bad), "") << bad;
  for (const auto& [bad, fragment] : {std::pair("101%", "at most 100%, which is max"),
                                      {"max-50%", "such as max-2GiB"},
                                      {"0-max", "0-max+1GiB"},
                                      {"50%-2GiB", "or max-2GiB"},
                                      {"4GiB-50%+4GiB", "its ends are sizes too"},
                                      {"1GiB-max+25%", "25%-max+25%"},
                                      {"max-2GiB+1GiB", "0-max+1GiB"},
                                      {"max-2GiB-max+1GiB", "0-max-2GiB+1GiB"}})
    EXPECT_NE(complaint(bad).find(fragment), std::string::npos) << complaint(bad);
}

TEST(Budget, OneIsNoRange) {
  EXPECT_EQ(parse_budget("max-2GiB"), parse_budgets("max-2GiB").first);
  for (const auto* bad : {"0-max+1GiB", "25%-50%+5%", "8GiB+1GiB"})
    EXPECT_THROW(parse_budget(bad), std::invalid_argument) << bad;
}

}  // namespace
}  // namespace headroom::sweep
