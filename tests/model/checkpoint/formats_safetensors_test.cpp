// safetensors headers and shard indices: their declarations, and every way in which these can be
// false.
#include <gtest/gtest.h>

#include <string>

#include "model/checkpoint/formats/safetensors.hpp"
#include "model/checkpoint/formats/shard_index.hpp"
#include "tests/model/checkpoint/formats_files.hpp"

namespace headroom::model {
namespace {

TensorList list_of(const std::string& file) {
  return read_safetensors(range_of(file), static_cast<Size>(file.size()), "x.safetensors");
}
std::string refused_safetensors(std::string_view json, std::size_t data_bytes) {
  return complaint([&] { list_of(safetensors_file(json, data_bytes)); });
}

constexpr std::string_view good_header =
    R"({"__metadata__":{"format":"pt"},"b":{"dtype":"BF16","shape":[2,3],"data_offsets":[8,20]},)"
    R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
    R"("s":{"dtype":"F8_E4M3","shape":[],"data_offsets":[20,21]}}   )";

TEST(Safetensors, ReadsNamesTypesAndShapes) {
  const TensorList list = list_of(safetensors_file(good_header, 21));
  ASSERT_EQ(list.tensors.size(), 3u);
  EXPECT_EQ(list.tensors[0].name, "a");
  EXPECT_EQ(list.tensors[1].dtype, "BF16");
  EXPECT_EQ(list.tensors[1].shape, (Shape{2, 3}));
  EXPECT_EQ(list.tensors[1].bytes.count(), 12);
  EXPECT_EQ(list.tensors[2].elements(), 1);
  EXPECT_EQ(list.total.count(), 21);
}

TEST(Safetensors, ReadsNothingBehindTheHeader) {
  const std::string file = safetensors_file(good_header, 21);
  Size last = 0;
  read_safetensors(
      [&](Size offset, Size length) {
        last = std::max(last, offset + length);
        return range_of(file)(offset, length);
      },
      static_cast<Size>(file.size()), "x");
  EXPECT_EQ(last, static_cast<Size>(8 + good_header.size()));
}

/// Empty if `text` contains `part`.
std::string lacks(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos ? "" : "no '" + std::string(part) + "' in: " + text;
}

TEST(Safetensors, RefusesInconsistentOffsets) {
  EXPECT_EQ(lacks(complaint([] { list_of("short"); }), "too little"), "");
  EXPECT_EQ(lacks(complaint([] { list_of(little(1000, 8) + "{}"); }), "in a file of 10"), "");
  EXPECT_EQ(lacks(complaint([] { list_of(std::string(8, '\xff') + "{}"); }), "at most 100000000"),
            "");
  EXPECT_EQ(
      lacks(refused_safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7),
            "ends at byte 8 of 7"),
      "");
  EXPECT_EQ(
      lacks(refused_safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 9),
            "the tensors end at 8"),
      "");
  EXPECT_EQ(lacks(refused_safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                      R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                                      12),
                  "an overlap"),
            "");
  EXPECT_EQ(
      lacks(refused_safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12),
            "a hole"),
      "");
}

TEST(Safetensors, RefusesEntriesThatMeanNothing) {
  EXPECT_EQ(
      lacks(refused_safetensors(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8),
            "a shape of 12"),
      "");
  EXPECT_EQ(
      lacks(refused_safetensors(R"({"a":{"dtype":"Q9","shape":[2],"data_offsets":[0,8]}})", 8),
            "unknown dtype 'Q9'"),
      "");
  EXPECT_EQ(lacks(refused_safetensors(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                                      R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                                      8),
                  "named twice"),
            "");
  EXPECT_EQ(
      lacks(refused_safetensors(
                R"({"a":{"dtype":"F32","shape":[9223372036854775807,4],"data_offsets":[0,8]}})", 8),
            "more than 2^63 - 1"),
      "");
  EXPECT_EQ(
      lacks(refused_safetensors(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}})", 8),
            "negative"),
      "");
  EXPECT_EQ(
      lacks(refused_safetensors(R"({"a":{"dtype":"F32","shape":[2.5],"data_offsets":[0,8]}})", 8),
            "not whole"),
      "");
  EXPECT_EQ(lacks(refused_safetensors(R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", 8),
                  "lacks one of"),
            "");
  EXPECT_EQ(lacks(refused_safetensors(
                      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})", 8),
                  "key 'x' unknown"),
            "");
  EXPECT_EQ(
      lacks(refused_safetensors(R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", 2),
            "do not fill whole bytes"),
      "");
  EXPECT_EQ(lacks(refused_safetensors(R"({"a":[1]})", 0), "a list where none should be"), "");
  EXPECT_EQ(lacks(refused_safetensors(R"({} {})", 0), "something follows"), "");
  EXPECT_EQ(lacks(refused_safetensors(R"({"a":)" + std::string(100000, '['), 0), "list"), "");
  EXPECT_EQ(
      lacks(refused_safetensors(R"({"__metadata__":)" + std::string(100000, '{'), 0), "header"),
      "");
}

TEST(Safetensors, AHundredMegabytesOfJsonEndInAnError) {
  std::string json = "{";
  json.append(99'000'000, ' ');
  EXPECT_NE(refused_safetensors(json, 0), "");
  std::string name = R"({"a)";
  name.append(50'000'000, 'a');
  EXPECT_NE(refused_safetensors(name, 0), "");
}

ShardIndex index_of(std::string_view json) { return parse_shard_index(json, "i.json"); }

TEST(ShardIndex, ReadsMapAndSize) {
  const ShardIndex index =
      index_of(R"({"metadata":{"total_size":12.0,"x":{"y":[1,{"z":2}]}},)"
               R"("weight_map":{"b":"2.safetensors","a":"1.safetensors","c":"1.safetensors"}})");
  EXPECT_EQ(index.total_size, 12);
  EXPECT_EQ(index.shards, (std::vector<std::string>{"1.safetensors", "2.safetensors"}));
  EXPECT_EQ(index.weight_map.at("c"), "1.safetensors");
}

TEST(ShardIndex, RefusesInconsistentSizes) {
  const auto refuse = [](std::string_view json) { return complaint([&] { index_of(json); }); };
  EXPECT_NE(refuse(R"({"weight_map":{}})"), "");
  EXPECT_NE(refuse(R"({"weight_map":{"a":"1.bin","a":"2.bin"}})").find("twice"), std::string::npos);
  EXPECT_NE(refuse(R"({"weight_map":{"a":"../1.bin"}})").find("file"), std::string::npos);
  EXPECT_NE(refuse(R"({"weight_map":{"a":"model.safetensors.index.json"}})"), "");
  EXPECT_NE(refuse(R"({"weight_map":{"a":3}})"), "");
  EXPECT_NE(refuse(R"({"metadata":{"total_size":-4},"weight_map":{"a":"1.bin"}})"), "");
  EXPECT_NE(refuse(std::string(1000, '[')), "");
  EXPECT_NE(refuse(std::string((64 << 20) + 1, ' ')).find("at most"), std::string::npos);
}

TEST(ShardIndex, ComparesShardsWithTheIndex) {
  const auto open = [](const std::string& shard) {
    TensorList list{shard, {}, Bytes(8), {}};
    list.tensors.push_back({shard == "1.safetensors" ? "a" : "b", "F32", {2}, Bytes(8), ""});
    return list;
  };
  const TensorList both = read_shards(
      index_of(
          R"({"metadata":{"total_size":16},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})"),
      open);
  EXPECT_EQ(both.total.count(), 16);
  EXPECT_EQ(both.tensors.at(1).file, "2.safetensors");
  EXPECT_TRUE(both.notes.empty());

  const TensorList other = read_shards(
      index_of(R"({"metadata":{"total_size":17},"weight_map":{"a":"1.safetensors"}})"), open);
  EXPECT_EQ(other.notes.size(), 1u) << "a total_size that is not the sum";

  EXPECT_NE(complaint([&] {
              read_shards(index_of(R"({"weight_map":{"a":"1.safetensors","c":"2.safetensors"}})"),
                          open);
            }).find("'c' is not in 2.safetensors"),
            std::string::npos);
}

}  // namespace
}  // namespace headroom::model
