// A size under a name that the class does not read.
#include "model/describe/synonyms.hpp"

#include <gtest/gtest.h>

#include <string>

#include "model/checkpoint/model.hpp"

namespace headroom::model {
namespace {

Model tiny(std::string_view more) {
  const std::string config =
      R"({"architectures": ["Glm4MoeForCausalLM"], "model_type": "glm4_moe", "hidden_size": 64,
          "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
          "first_k_dense_replace": 1, "vocab_size": 100)" +
      std::string(more) + "}";
  return make_model("tiny", parse_config(config, "tiny"), "test");
}

std::string refusal(std::string_view more) {
  try {
    tiny(more);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

/// The class would have its 128 experts instead of the 8 that the file states.
TEST(Synonyms, NamesOfOtherClassesAreRefused) {
  const std::string found = refusal(R"(, "moe_num_experts": 8)");
  EXPECT_NE(found.find("tiny: key 'moe_num_experts'"), found.npos) << found;
  EXPECT_NE(found.find("reads this size as 'n_routed_experts'"), found.npos) << found;
  EXPECT_NE(refusal(R"(, "n_routed_experts": 8, "moe_topk": 2)").find("'num_experts_per_tok'"),
            std::string::npos);
}

/// num_local_experts is the name of the class's attribute_map, num_experts one of its relatives'.
/// The class's default of n_routed_experts must count in no tensor, the router's neither.
TEST(Synonyms, NamesOfTheClassCount) {
  EXPECT_EQ(tiny(R"(, "num_experts": 16)").profile.parameters,
            tiny(R"(, "n_routed_experts": 16)").profile.parameters);
  EXPECT_EQ(tiny(R"(, "num_local_experts": 16)").profile.parameters,
            tiny(R"(, "n_routed_experts": 16)").profile.parameters);
  EXPECT_LT(tiny(R"(, "n_routed_experts": 8)").profile.parameters,
            tiny(R"(, "n_routed_experts": 16)").profile.parameters);
}

/// A file with both names, as gpt-oss has for the experts of a token, states what is read.
TEST(Synonyms, ASecondNameChangesNothing) {
  EXPECT_EQ(tiny(R"(, "n_routed_experts": 16, "num_experts": 16)").profile.parameters,
            tiny(R"(, "n_routed_experts": 16)").profile.parameters);
  EXPECT_EQ(refusal(R"(, "n_routed_experts": 16, "num_experts": null)"), "");
}

TEST(Synonyms, SectionsAreChecked) {
  const auto config = [](std::string_view name) {
    return parse_config(
        R"({"architectures": ["Qwen3VLMoeForConditionalGeneration"], "model_type": "qwen3_vl_moe",
            "text_config": {"model_type": "qwen3_vl_moe_text", ")" +
            std::string(name) + R"(": 8}, "vision_config": {"model_type": "qwen3_vl_moe"}})",
        "tiny");
  };
  EXPECT_NO_THROW(make_model("tiny", config("num_experts"), "test"));
  EXPECT_THROW(make_model("tiny", config("n_routed_experts"), "test"), ConfigError);
}

}  // namespace
}  // namespace headroom::model
