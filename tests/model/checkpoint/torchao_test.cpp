// torchao's configs: sizes that need a GPU to be written, by hand, and what is refused. Other bytes
// are compared with torchao's own files in tests/oracle/exports_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "model/checkpoint/quantisation/checkpoint_bytes.hpp"
#include "tests/model/checkpoint/small_llama.hpp"

namespace headroom::model {
namespace {

Model torchao(std::string_view type, std::string_view data, int version = 2) {
  return small_model(
      llama_config(1, fmt::format(R"({{"quant_method":"torchao","quant_type":{{"default":{{
                     "_type":"{}","_version":{},"_data":{{{}}}}}}}}})",
                                  type, version, data)));
}

constexpr std::int64_t unpacked =
    2 * (2 * SmallLlama::vocabulary * SmallLlama::hidden + 3 * SmallLlama::hidden);

TEST(Torchao, PacksFourBitsInGroupsOrInTiles) {
  const auto bytes = [](std::string_view packing) {
    return checkpoint_bytes(
               torchao("Int4WeightOnlyConfig",
                       fmt::format(R"("group_size":64,"int4_packing_format":"{}")", packing)))
        .count();
  };
  EXPECT_EQ(bytes("plain"), unpacked + small_layer([](std::int64_t out, std::int64_t in) {
                              return out * in / 2 + 4 * out * in / 64;
                            }));
  // Inputs are padded to 1,024.
  EXPECT_EQ(bytes("tile_packed_to_4d"), unpacked + small_layer([](std::int64_t out, std::int64_t) {
                                          return out * 1024 / 2 + 4 * out * 1024 / 64;
                                        }));
}

TEST(Torchao, ScalesFloat8ByRowOrByMatrix) {
  const auto bytes = [](std::string_view type) {
    const std::string each = fmt::format(R"({{"_type":"{}","_data":{{}}}})", type);
    return checkpoint_bytes(torchao("Float8DynamicActivationFloat8WeightConfig",
                                    fmt::format(R"("granularity":[{},{}])", each, each)))
        .count();
  };
  EXPECT_EQ(bytes("PerRow"), unpacked + small_layer([](std::int64_t out, std::int64_t in) {
                               return out * in + 4 * out;
                             }));
  EXPECT_EQ(bytes("PerTensor"),
            unpacked + small_layer([](std::int64_t out, std::int64_t in) { return out * in + 4; }));
}

TEST(Torchao, RefusesLayoutsThatAreNotDescribed) {
  const std::pair<Model (*)(), std::string_view> cases[] = {
      {[] { return torchao("Int4WeightOnlyConfig", R"("group_size":128)", 1); }, "_version"},
      {[] { return torchao("Float8StaticActivationFloat8WeightConfig", ""); }, "_type"},
      {[] { return torchao("Int8WeightOnlyConfig", R"("group_size":32)"); }, "group_size"},
      {[] { return torchao("Int4WeightOnlyConfig", R"("int4_packing_format":"preshuffled")"); },
       "preshuffled"},
  };
  for (const auto& [read, key] : cases) try {
      read();
      ADD_FAILURE() << key;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(key), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace headroom::model
