// Rows of engines by version. Expected rows: the ranges of model/engine/engines/*.toml, from both
// sides of each boundary.
#include "model/engine/engine_version.hpp"

#include <gtest/gtest.h>

#include "hardware/names.hpp"

namespace headroom::model {
namespace {

TEST(EngineVersion, HasNumbers) {
  using Numbers = std::vector<int>;
  EXPECT_EQ(version_numbers("v0.11.2"), (Numbers{0, 11, 2}));
  EXPECT_EQ(version_numbers("b6325"), Numbers{6325});
  EXPECT_EQ(version_numbers("0.9.2rc1.dev46+g3fd0"), (Numbers{0, 9, 2}));
  EXPECT_EQ(version_numbers("0.6.4.post1"), (Numbers{0, 6, 4}));
  for (const auto* bad : {"", "v", "newest", "0.11x", "0..1", "-1", "0.11."})
    EXPECT_EQ(version_numbers(bad), std::nullopt) << bad;
}

TEST(EngineVersion, ChoosesTheRow) {
  for (const auto& [asked, row] : {std::pair{"vllm@0.33.0", "vllm"},
                                   {"vllm@v0.32", "vllm-0.32"},
                                   {"vllm@0.28", "vllm-0.32"},
                                   {"vllm@0.27.1", "vllm-0.27"},
                                   {"vllm@0.26", "vllm-0.27"},
                                   {"vllm@0.25.1", "vllm-0.25"},
                                   {"vllm@0.24", "vllm-0.24"},
                                   {"vllm@0.20.2", "vllm-0.24"},
                                   {"sglang@0.5.16", "sglang-0.5.19"},
                                   {"sglang@0.5.15", "sglang-0.5.15"},
                                   {"sglang@0.5.10", "sglang-0.5.10"},
                                   {"vllm@0.13", "vllm-0.13"},
                                   {"vllm@0.12", "vllm-0.12"},
                                   {"vllm@0.11", "vllm-0.12"},
                                   {"vllm@0.9", "vllm-0.9"},
                                   {"vllm@0.9.0", "vllm-0.8"},
                                   {"vllm@0.8.4", "vllm-0.8"},
                                   {"vllm@0.8.3", "vllm-0.8.3"},
                                   {"vllm@0.7", "vllm-0.7"},
                                   {"vllm@0.7.0", "vllm-0.6"},
                                   {"vllm@0.6.4.post1", "vllm-0.6"},
                                   {"vllm@0.2.6", "vllm-0.5"},
                                   {"vllm@0.2.5", "vllm-0.2"},
                                   {"llama.cpp@b9776", "llama.cpp"},
                                   {"llama.cpp@b7830", "llama.cpp-b9775"},
                                   {"llama.cpp@7829", "llama.cpp-b7829"},
                                   {"llama.cpp@b3120", "llama.cpp-b3120"},
                                   {"llama.cpp-vulkan@b4282", "llama.cpp-vulkan-b4282"},
                                   {"transformers@4.51.3", "transformers-4.57"},
                                   {"TRANSFORMERS@5.0", "transformers"}})
    EXPECT_EQ(engine(asked).name, row) << asked;
}

TEST(EngineVersion, AnyRowOfASeriesLeadsToTheOthers) {
  EXPECT_EQ(engine("vllm-0.7@0.30").name, "vllm-0.32");
}

TEST(EngineVersion, WithoutARowIsAnErrorThatListsThem) {
  const auto message = [](const char* asked) -> std::string {
    try {
      engine(asked);
    } catch (const UnknownName& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message("vllm@0.90").find("0.14 to 0.15"), std::string::npos);
  EXPECT_NE(message("vllm@newest").find("versions: 0.33"), std::string::npos);
  EXPECT_NE(message("gpt-fast@2").find("versions: 2024"), std::string::npos);
  EXPECT_NE(message("vlm@0.9").find("vllm"), std::string::npos);
}

/// Measurements of a version newer than all rows are scored by the newest.
TEST(EngineVersion, OfMeasurementsNeverFails) {
  EXPECT_EQ(row_of_measured("vllm", "1.2").name, "vllm");
  EXPECT_EQ(row_of_measured("vllm", "").name, "vllm");
  EXPECT_EQ(row_of_measured("vllm", "0.19.0.dev1").name, "vllm-0.19");
}

/// Two rows of a series never stand for the same version.
TEST(EngineVersion, RangesDoNotOverlap) {
  for (const Engine& row : engines()) {
    if (row.from.empty() && row.to.empty()) continue;
    for (const std::string_view end : {row.from, row.to}) {
      if (end.empty()) continue;
      const Engine* found = row_of_version(engines(), row.series, end);
      ASSERT_NE(found, nullptr) << row.name;
      EXPECT_EQ(found->name, row.name) << end;
    }
  }
}

}  // namespace
}  // namespace headroom::model
