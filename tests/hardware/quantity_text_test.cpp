// GB and GiB are different, fractions are exact, and other text is rejected.
#include "hardware/quantity_text.hpp"

#include <gtest/gtest.h>

namespace headroom {
namespace {

TEST(QuantityText, DecimalAndBinaryUnitsDiffer) {
  EXPECT_EQ(parse_bytes("8GB"), Bytes(8'000'000'000));
  EXPECT_EQ(parse_bytes("8GiB"), Bytes(8'589'934'592));
  EXPECT_EQ(parse_bytes("1 kB"), Bytes(1000));
  EXPECT_EQ(parse_bytes("1KiB"), Bytes(1024));
  EXPECT_EQ(parse_bytes(" 2 pib "), Bytes(2'251'799'813'685'248));
  EXPECT_EQ(parse_bytes("17B"), Bytes(17));
}

TEST(QuantityText, FractionsAreExactAndTruncated) {
  EXPECT_EQ(parse_bytes("0.1GB"), Bytes(100'000'000));
  EXPECT_EQ(parse_bytes("37.25 GiB"), Bytes(39'996'882'944));
  EXPECT_EQ(parse_bytes("1.9B"), Bytes(1));
  EXPECT_EQ(parse_bytes(".5KiB"), Bytes(512));
}

TEST(QuantityText, TheLargestByteCountIsReadAndTheNextRefused) {
  EXPECT_EQ(parse_bytes("9223372036854775807B").count(), 9223372036854775807);
  EXPECT_THROW(parse_bytes("9223372036854775808B"), std::invalid_argument);
  EXPECT_THROW(parse_bytes("99999999PB"), std::invalid_argument);
}

TEST(QuantityText, RefusesInvalidQuantities) {
  for (const char* bad : {"", " ", "8", "GB", "-8GB", "8GBs", "8 G B", "1e9B", "8,5GB", "1.2.3GB",
                          "8XB", "nan", "0x8GB", "99999999999999999999999B", "8GB/s", "8G", "."})
    EXPECT_THROW(parse_bytes(bad), std::invalid_argument) << bad;
}

TEST(QuantityText, BitsAreNotTakenForBytes) {
  EXPECT_THROW(parse_bytes("8Gb"), std::invalid_argument);
  EXPECT_THROW(parse_rate("400Gb/s"), std::invalid_argument);
  EXPECT_EQ(parse_bytes("8gb"), Bytes(8'000'000'000));
  EXPECT_DOUBLE_EQ(parse_rate("400Gbit/s").value(), 50e9);
}

TEST(QuantityText, TheErrorSaysWhatWouldHaveWorked) {
  try {
    parse_bytes("8");
    FAIL() << "a bare number was accepted";
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("without a unit"), std::string::npos) << message;
    EXPECT_NE(message.find("8GiB"), std::string::npos) << message;
  }
}

TEST(QuantityText, Rates) {
  EXPECT_DOUBLE_EQ(parse_rate("1.5TB/s").value(), 1.5e12);
  EXPECT_DOUBLE_EQ(parse_rate("900 GB/s").value(), 900e9);
  EXPECT_DOUBLE_EQ(parse_rate("25GiB/s").value(), 25.0 * 1024 * 1024 * 1024);
  for (const char* bad : {"900GB", "900", "GB/s", "900/s", "-1GB/s", "900GB/m"})
    EXPECT_THROW(parse_rate(bad), std::invalid_argument) << bad;
}

TEST(QuantityText, Flops) {
  EXPECT_DOUBLE_EQ(parse_flops("312TFLOPS").value(), 312e12);
  EXPECT_DOUBLE_EQ(parse_flops("1.2 pflops").value(), 1.2e15);
  EXPECT_DOUBLE_EQ(parse_flops("624TOPS").value(), 624e12);
  for (const char* bad : {"312", "312TB", "TFLOPS", "312TiFLOPS", "-1TFLOPS", "3XFLOPS"})
    EXPECT_THROW(parse_flops(bad), std::invalid_argument) << bad;
}

TEST(QuantityText, Times) {
  EXPECT_DOUBLE_EQ(parse_seconds("200ms").value(), 0.2);
  EXPECT_DOUBLE_EQ(parse_seconds("1.5 min").value(), 90);
  EXPECT_DOUBLE_EQ(parse_seconds("2S").value(), 2);
  EXPECT_DOUBLE_EQ(parse_seconds("3h").value(), 10800);
  for (const char* bad : {"", "2", "s", "0s", "-1s", "2us", "2s/s"})
    EXPECT_THROW(parse_seconds(bad), std::invalid_argument) << bad;
}

TEST(QuantityText, CountsThings) {
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(2, "copy"), "2 copies");
  EXPECT_EQ(counted(3, "pass"), "3 passes");
  EXPECT_EQ(counted(8, "box"), "8 boxes");
  EXPECT_EQ(counted(9, "patch"), "9 patches");
  EXPECT_EQ(counted(1, "GPU"), "1 GPU");
  EXPECT_EQ(plural(30, "day"), "days");
}

TEST(QuantityText, WrittenWithTwoDecimals) {
  EXPECT_EQ(to_text(parse_bytes("37.25GiB")), "37.25 GiB");
  EXPECT_EQ(to_text(parse_bytes("81559MiB")), "79.65 GiB");
  EXPECT_EQ(to_text(Bytes((Size{1} << 30) - 1)), "1.00 GiB");
  EXPECT_EQ(to_text(Bytes(Size{1} << 30)), "1.00 GiB");
  EXPECT_EQ(to_text(Bytes(0)), "0.00 MiB");
  EXPECT_EQ(to_text(Bytes((Size{1} << 30) - (Size{1} << 14))), "1023.98 MiB");
  EXPECT_EQ(to_text(Bytes(-(Size{3} << 30))), "-3.00 GiB");
}

TEST(QuantityText, SharesAreNeitherNoneNorAllByRounding) {
  EXPECT_EQ(percent(0), "0 %");
  EXPECT_EQ(percent(0.004), "<1 %");
  EXPECT_EQ(percent(0.35), "35 %");
  EXPECT_EQ(percent(0.996), ">99 %");
  EXPECT_EQ(percent(1), "100 %");
}

TEST(QuantityText, ChangesHaveASign) {
  EXPECT_EQ(change_percent(1.124), "+12 %");
  EXPECT_EQ(change_percent(0.97), "-3 %");
  EXPECT_EQ(change_percent(0.999), "0 %");
}

}  // namespace
}  // namespace headroom
