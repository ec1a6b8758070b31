// Compares storage formats with the bits per weight that llama.cpp prints, and with sizes of
// published files.
#include <gtest/gtest.h>

#include <set>

#include "hardware/names.hpp"
#include "hardware/precision.hpp"

namespace headroom {
namespace {

double bits_per_weight(std::string_view name) {
  const Precision& row = precision(name);
  return 8.0 * static_cast<double>(row.block_bytes) / static_cast<double>(row.block_elements);
}

TEST(Precision, BitsPerWeightAsLlamaCppDocumentsThem) {
  // Source: llama.cpp, comments of ggml-common.h and the table of `llama-quantize --help`.
  EXPECT_EQ(bits_per_weight("q4_0"), 4.5);
  EXPECT_EQ(bits_per_weight("q8_0"), 8.5);
  EXPECT_EQ(bits_per_weight("q2_K"), 2.625);
  EXPECT_EQ(bits_per_weight("q3_K"), 3.4375);
  EXPECT_EQ(bits_per_weight("q6_K"), 6.5625);
  EXPECT_EQ(bits_per_weight("iq1_s"), 1.5625);
  EXPECT_EQ(bits_per_weight("iq2_xxs"), 2.0625);
  EXPECT_EQ(bits_per_weight("iq4_xs"), 4.25);
  EXPECT_EQ(bits_per_weight("tq1_0"), 1.6875);
}

TEST(Precision, ScalesCountInTheBlock) {
  EXPECT_EQ(bits_per_weight("mxfp4"), 4.25);
  EXPECT_EQ(bits_per_weight("nvfp4"), 4.5);
  EXPECT_EQ(bits_per_weight("mxfp8"), 8.25);
  EXPECT_EQ(bits_per_weight("nf4"), 4.5);
}

TEST(Precision, GptOssExpertsTakeTheBytesOfTheCheckpoint) {
  // gpt-oss-20b: 24 layers, 32 experts, gate_up 5760 x 2880 and down 2880 x 2880: config.json of
  // openai/gpt-oss-20b; blocks (16 bytes) and scales (1 byte) are tensors of its files.
  const Size per_expert = 5760 * 2880 + 2880 * 2880;
  EXPECT_EQ(precision("mxfp4").stored(24 * 32 * per_expert).count(),
            Size{24} * 32 * (5760 + 2880) * (2880 / 32) * 17);
}

TEST(Precision, TheLastBlockIsPadded) {
  EXPECT_EQ(precision("int4").stored(0), Bytes(0));
  EXPECT_EQ(precision("int4").stored(1), Bytes(1));
  EXPECT_EQ(precision("int4").stored(2), Bytes(1));
  EXPECT_EQ(precision("int4").stored(3), Bytes(2));
  EXPECT_EQ(precision("q4_K").stored(256), Bytes(144));
  EXPECT_EQ(precision("q4_K").stored(257), Bytes(288));
}

TEST(Precision, FoundByAliasAndWithoutCase) {
  EXPECT_EQ(precision("bfloat16").name, "bf16");
  EXPECT_EQ(precision("Float16").name, "fp16");
  EXPECT_EQ(precision("half").name, "fp16");
  EXPECT_EQ(precision("F32").name, "fp32");
  EXPECT_EQ(precision("e4m3").name, "fp8");
  EXPECT_EQ(precision("F8_E5M2").name, "fp8_e5m2");
  EXPECT_EQ(precision("Q4_K").name, "q4_K");
}

TEST(Precision, UnknownNameListsTheNearest) {
  try {
    precision("bf61");
    FAIL() << "bf61 was accepted";
  } catch (const UnknownName& error) {
    EXPECT_NE(std::string(error.what()).find("bf16"), std::string::npos) << error.what();
  }
  EXPECT_THROW(precision(""), UnknownName);
  EXPECT_THROW(precision("tf32"), UnknownName);  // an arithmetic, not a storage format
}

TEST(Precision, RowsAreWholeAndNamesUnique) {
  std::set<std::string> names;
  for (const Precision& row : precisions()) {
    EXPECT_TRUE(names.insert(lower(row.name)).second) << row.name;
    EXPECT_GT(row.block_elements, 0) << row.name;
    EXPECT_GT(row.block_bytes, 0) << row.name;
    EXPECT_FALSE(row.source.empty()) << row.name;
    EXPECT_EQ(precision(row.name).name, row.name);
  }
}

TEST(Precision, ByteCountsThatDoNotFitAreErrors) {
  constexpr Precision wide{"wide", 1, 1, Arithmetic::fp32, "test"};
  EXPECT_EQ(wide.stored(std::numeric_limits<Size>::max()).count(),
            std::numeric_limits<Size>::max());
  EXPECT_THROW(precision("fp32").stored(std::numeric_limits<Size>::max()), std::overflow_error);
}

}  // namespace
}  // namespace headroom
