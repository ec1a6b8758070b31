// Compares storage formats with the bits per weight that llama.cpp prints, and with sizes of
// published files.
#include "hardware/precision.hpp"

#include <gtest/gtest.h>

#include <set>

#include "hardware/names.hpp"

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

TEST(Precision, BlocksOfIkLlamaCppAreItsStructs) {
  // Source: ik_llama.cpp ggml/src/ggml-common.h (PyPI ik-llama-cpp-python 0.1.5), members in the
  // order of each struct; ggml.c: row_meta_size.
  constexpr Size half = 2, k = 256;
  struct Expected {
    std::string_view name;
    Size elements, bytes, row;
  };
  const Expected rows[] = {
      {"q6_0", 32, half + 32 / 4 + 32 / 2, 0},
      {"iq2_k", k, half + 2 + k / 32 + k / 4, 0},
      {"iq3_k", k, half + 2 + 2 + k / 32 + k / 4 + k / 8, 0},
      {"iq4_k", k, half + 2 + k / 64 + k / 32 + k / 2, 0},
      {"iq5_k", k, half + 2 + k / 64 + k / 32 + k / 2 + k / 8, 0},
      {"iq6_k", k, half + 2 + k / 16 + k / 2 + k / 4, 0},
      {"iq2_ks", k, 2 + k / 64 + k / 4, 2},
      {"iq3_ks", k, 2 + k / 64 + k / 4 + k / 8, 2},
      {"iq4_ks", k, k / 32 + k / 2, 4},
      {"iq5_ks", k, k / 32 + k / 2 + k / 8, 4},
      {"iq4_kss", k, k / 8 * 4, 4},
      {"iq2_kl", k, 2 + k / 64 + k / 4 + k / 16, 2},
      {"iq1_kt", k, k / 32 + k / 8 + k / 16, 4},
      {"iq2_kt", k, k / 64 + k / 4, 4},
      {"iq3_kt", k, k / 64 + k / 4 + k / 8, 4},
      {"iq4_kt", k, k / 2, 4},
      {"iq1_s_r4", 32, 24 / 4, 2},
      {"iq1_m_r4", 32, 28 / 4, 2},
      {"iq1_bn", 64, 13, 2},
      {"iq2_bn", 64, 64 / 4, 4},
      {"q8_K_r8", k, (8 * half + 8 * k) / 8, 0},
  };
  for (const Expected& row : rows) {
    EXPECT_EQ(precision(row.name).block_elements, row.elements) << row.name;
    EXPECT_EQ(precision(row.name).block_bytes, row.bytes) << row.name;
    EXPECT_EQ(precision(row.name).row_bytes, row.row) << row.name;
  }
  EXPECT_EQ(precision("iq4_ks").row(512).count(), 4 + 2 * 136);
  EXPECT_EQ(precision("q4_K").row(512).count(), 2 * 144);
}

TEST(Precision, DeepSeekR1InIq4KIsAsLogged) {
  // Source: ikawrakow/ik_llama.cpp@8337e4cd3 github-data/pull_requests/287: 353.526 GiB, of 1147
  // tensors 662 iq4_k_r4, 61 q5_0 (rows of 128), 61 q5_K (outputs of attention), 361 f32.
  const auto bytes = [](std::string_view format, Size rows, Size row) {
    return rows * precision(format).row(row).count();
  };
  constexpr Size width = 7168, words = 129280, dense = 3, layers = 61;
  Size all = bytes("q6_K", words, width) + bytes("iq4_k", words, width) + 4 * width;
  for (Size layer = 0; layer < layers; ++layer) {
    const Size experts = layer < dense ? 9 : 257;  // the dense layers are nine experts wide
    all += bytes("iq4_k", 1536 + 576, width) + bytes("iq4_k", 24576, 1536) +
           bytes("iq4_k", 32768 + 16384, 512) + bytes("q5_0", 65536, 128) +
           bytes("q5_K", width, 16384) + 4 * (2 * width + 1536 + 512) +
           experts * (2 * bytes("iq4_k", 2048, width) + bytes("iq4_k", width, 2048));
    if (layer >= dense) all += 4 * (256 * width + 256);
  }
  EXPECT_NEAR(static_cast<double>(all) / 1073741824.0, 353.526, 0.0005);
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
