// GGUF headers: their declarations, and every way in which these can be false.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hardware/names.hpp"
#include "hardware/precision.hpp"
#include "model/checkpoint/formats/gguf.hpp"
#include "model/checkpoint/formats/gguf_types.hpp"
#include "model/checkpoint/formats/shard_index.hpp"
#include "model/checkpoint/gguf/config.hpp"
#include "tests/model/checkpoint/formats_files.hpp"

namespace headroom::model {
namespace {

GgufHeader header_of(const std::string& file) {
  return read_gguf(range_of(file), static_cast<Size>(file.size()), "x.gguf");
}
std::string refused_gguf(const std::string& file) {
  return complaint([&] { header_of(file); });
}
bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string good_gguf(std::uint32_t version = 3) {
  const std::string words = gguf_text("tokenizer.ggml.tokens") + little(9, 4) + little(8, 4) +
                            little(2, 8) + gguf_text("<s>") + gguf_text("</s>");
  const std::string name = gguf_text("general.architecture") + little(8, 4) + gguf_text("llama");
  return gguf_file({name, gguf_number("llama.block_count", 1), words},
                   {gguf_tensor("token_embd.weight", {256, 10}, 12, 0),
                    gguf_tensor("output_norm.weight", {256}, 0, 1440)},
                   1440 + 1024, version);
}

TEST(Gguf, ReadsBothVersions) {
  for (const std::uint32_t version : {2u, 3u}) {
    const GgufHeader header = header_of(good_gguf(version));
    EXPECT_EQ(header.version, version);
    EXPECT_EQ(header.text("general.architecture"), "llama");
    EXPECT_EQ(header.number("llama.block_count", 0), 1);
    EXPECT_EQ(header.number("tokenizer.ggml.tokens", 0), 2) << "lists stand for their length";
    ASSERT_EQ(header.list.tensors.size(), 2u);
    EXPECT_EQ(header.list.tensors[0].dtype, "Q4_K");
    EXPECT_EQ(header.list.tensors[0].shape, (Shape{10, 256}));
    EXPECT_EQ(header.list.tensors[0].bytes.count(), 10 * 144);
    EXPECT_EQ(header.list.total.count(), 1440 + 1024);
    EXPECT_EQ(header.header_bytes, static_cast<Size>(good_gguf().size()) - 1440 - 1024);
  }
}

/// Nothing with an entry a layer is made of a number that no model has.
TEST(Gguf, LayersWithoutEndAreRefusedByTheirKey) {
  const std::string name = gguf_text("general.architecture") + little(8, 4) + gguf_text("jamba");
  const GgufHeader header =
      header_of(gguf_file({name, gguf_number("jamba.block_count", 100'663'296)},
                          {gguf_tensor("a", {256, 10}, 12, 0)}, 1440));
  const std::string refused = complaint([&] { gguf_config(header, header.list); });
  EXPECT_TRUE(contains(refused, "key 'jamba.block_count': found 100663296, expected at most 4096"))
      << refused;
}

TEST(Gguf, TypesOfIkLlamaCppHaveTheirBytes) {
  // Numbers of types: ik_llama.cpp ggml/include/ggml.h. IQ4_KS has a scale of 4 bytes a row.
  const std::string name = gguf_text("general.architecture") + little(8, 4) + gguf_text("llama");
  const std::string file =
      gguf_file({name},
                {gguf_tensor("a", {512, 10}, 144, 0), gguf_tensor("b", {256, 8}, 339, 2784),
                 gguf_tensor("c", {64, 4}, 219, 3936)},
                3936 + 64);
  const GgufHeader header = header_of(file);
  EXPECT_EQ(header.list.tensors[0].dtype, "IQ4_KS");
  EXPECT_EQ(header.list.tensors[0].bytes.count(), 10 * (4 + 2 * 136));
  EXPECT_EQ(header.list.tensors[1].dtype, "IQ4_K_R4");
  EXPECT_EQ(header.list.tensors[1].bytes.count(), 8 * 144);
  EXPECT_EQ(header.list.tensors[2].dtype, "IQ1_S_R4");
  EXPECT_EQ(header.list.tensors[2].bytes.count(), 4 * (2 + 2 * 6));
}

TEST(Gguf, TypesAgreeWithThePrecisions) {
  for (std::uint32_t id = 0; id < 512; ++id) {
    const GgufType* type = gguf_type(id);
    if (type == nullptr || type->name == "NVFP4") continue;  // ggml joins four of its blocks
    const std::span<const Precision> formats = headroom::precisions();
    const auto format = std::ranges::find_if(
        formats, [&](const Precision& each) { return lower(each.name) == lower(type->name); });
    if (format == formats.end()) continue;
    EXPECT_EQ(type->block_elements, format->block_elements) << type->name;
    EXPECT_EQ(type->block_bytes, format->block_bytes) << type->name;
    EXPECT_EQ(type->row_bytes, format->row_bytes) << type->name;
  }
}

TEST(Gguf, ReadsMoreUntilTheHeaderEnds) {
  const std::string file = good_gguf();
  for (std::size_t n = 0; n < file.size() - 1440 - 1024 - 32; ++n)
    EXPECT_FALSE(
        parse_gguf(std::string_view(file).substr(0, n), static_cast<Size>(file.size()), "x"));
  EXPECT_TRUE(parse_gguf(file, -1, "x"));
  for (std::size_t n = 0; n < file.size(); ++n)
    EXPECT_NE(refused_gguf(file.substr(0, n)), "") << "truncated to " << n;
}

TEST(Gguf, RefusesInconsistentSizes) {
  const std::string one = gguf_tensor("a", {32}, 0, 0);
  EXPECT_TRUE(contains(refused_gguf("GGML" + good_gguf().substr(4)), "not a GGUF file"));
  EXPECT_TRUE(contains(refused_gguf(gguf_file({}, {one}, 128, 1)), "version 1"));
  EXPECT_TRUE(contains(refused_gguf(gguf_file({}, {one}, 128, 0x03000000)), "big-endian"));
  EXPECT_TRUE(contains(refused_gguf("GGUF" + little(3, 4) + little(~0ull, 8) + little(0, 8)),
                       "do not fit"));
  EXPECT_TRUE(
      contains(refused_gguf("GGUF" + little(3, 4) + little(0, 8) + little(1ull << 40, 8)), "keys"));
  EXPECT_TRUE(
      contains(refused_gguf(gguf_file({little(~0ull, 8) + "k"}, {one}, 128)), "at most 65535"));
  EXPECT_TRUE(contains(
      refused_gguf(gguf_file({gguf_text("k") + little(8, 4) + little(1ull << 62, 8)}, {one}, 128)),
      "the file has"));
  EXPECT_TRUE(contains(
      refused_gguf(gguf_file({gguf_text("k") + little(9, 4) + little(4, 4) + little(1ull << 59, 8)},
                             {one}, 128)),
      "the file has"));
  EXPECT_TRUE(
      contains(refused_gguf(gguf_file({gguf_text("k") + little(9, 4) + little(9, 4) + little(1, 8)},
                                      {one}, 128)),
               "lists of lists"));
  EXPECT_TRUE(contains(refused_gguf(gguf_file({gguf_text("k") + little(77, 4)}, {one}, 128)),
                       "unknown type 77"));
  EXPECT_TRUE(contains(
      refused_gguf(gguf_file({gguf_number("k", 1), gguf_number("k", 1)}, {one}, 128)), "twice"));
  EXPECT_TRUE(contains(refused_gguf(gguf_file({gguf_number("general.alignment", 12)}, {one}, 128)),
                       "power of two"));
  EXPECT_TRUE(contains(refused_gguf(gguf_file({}, {one, one}, 128)), "twice"));
  EXPECT_TRUE(
      contains(refused_gguf(gguf_file({}, {gguf_tensor("a", {32}, 5, 0)}, 128)), "unknown type 5"));
  EXPECT_TRUE(contains(refused_gguf(gguf_file({}, {gguf_tensor("a", {100}, 12, 0)}, 128)),
                       "do not divide"));
  EXPECT_TRUE(contains(refused_gguf(gguf_file({}, {gguf_tensor("a", {1, 1, 1, 1, 1}, 0, 0)}, 128)),
                       "5 dimensions"));
  EXPECT_TRUE(
      contains(refused_gguf(gguf_file({}, {gguf_tensor("a", {1ull << 40, 1ull << 40}, 0, 0)}, 128)),
               "2^63"));
  EXPECT_TRUE(contains(refused_gguf(gguf_file({}, {gguf_tensor("a", {32}, 0, 4)}, 256)),
                       "a multiple of 32"));
  EXPECT_TRUE(contains(refused_gguf(gguf_file({}, {one, gguf_tensor("b", {32}, 0, 96)}, 256)),
                       "within another"));
  EXPECT_TRUE(contains(refused_gguf(gguf_file({}, {one}, 100)), "ends at byte 128 of 100"));
  EXPECT_TRUE(
      contains(refused_gguf(gguf_file({}, {gguf_tensor(std::string(65, 'n'), {32}, 0, 0)}, 128)),
               "at most 64"));
}

GgufHeader part(std::uint32_t number, std::uint32_t count, std::string_view tensor) {
  return header_of(gguf_file({gguf_number("split.no", number), gguf_number("split.count", count),
                              gguf_number("split.tensors.count", 2)},
                             {gguf_tensor(tensor, {32}, 0, 0)}, 128));
}

TEST(Gguf, JoinsSplitsAndNamesMissingParts) {
  const GgufHeader all = join_gguf({part(1, 2, "b"), part(0, 2, "a")});
  ASSERT_EQ(all.list.tensors.size(), 2u);
  EXPECT_EQ(all.list.tensors[0].name, "a");
  EXPECT_EQ(all.list.total.count(), 256);
  EXPECT_TRUE(contains(complaint([] { join_gguf({part(0, 2, "a")}); }), "1 parts of 2"));
  EXPECT_TRUE(contains(complaint([] {
                         join_gguf({part(0, 2, "a"), part(0, 2, "b")});
                       }),
                       "missing"));
  EXPECT_TRUE(contains(complaint([] {
                         join_gguf({part(0, 2, "a"), part(1, 2, "a")});
                       }),
                       "two parts"));
  EXPECT_TRUE(contains(complaint([] { part(2, 2, "a"); }), "split 2 of 2"));
}

TEST(Gguf, SplitNames) {
  EXPECT_EQ(part_names("m-00002-of-00003.gguf"),
            (std::vector<std::string>{"m-00001-of-00003.gguf", "m-00002-of-00003.gguf",
                                      "m-00003-of-00003.gguf"}));
  EXPECT_EQ(part_names("m.gguf"), std::vector<std::string>{"m.gguf"});
  EXPECT_THROW(part_names("m-00001-of-99999.gguf"), FormatError);
}

}  // namespace
}  // namespace headroom::model
