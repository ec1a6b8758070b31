// Config keys that nothing reads and no class has.
#include "model/describe/config_keys.hpp"

#include <gtest/gtest.h>

#include "model/checkpoint/model.hpp"

namespace headroom::model {
namespace {

std::vector<UnknownKey> unknown(std::string_view more) {
  const std::string config =
      R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64,
          "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
          "vocab_size": 100)" +
      std::string(more) + "}";
  return make_model("tiny", parse_config(config, "tiny"), "test").unknown_keys;
}

/// The description reads hidden_act. The other keys affect no tensor of the class, or of any class.
TEST(UnknownKeys, KeysOfTheClassAreKnown) {
  EXPECT_TRUE(unknown(R"(, "hidden_act": "silu", "attention_dropout": 0.0, "use_cache": true,
                        "torch_dtype": "bfloat16", "transformers_version": "4.40.0",
                        "rope_theta": 10000, "pretraining_tp": 1, "bos_token_id": 1)")
                  .empty());
}

/// Without a report, both would silently leave as many key-value heads as query heads.
TEST(UnknownKeys, SlipsAndKeysOfOtherClasses) {
  const auto found = unknown(R"(, "num_key_value_head": 2, "n_kv_heads": 2)");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].key, "num_key_value_head");
  EXPECT_EQ(found[0].nearest.at(0), "num_key_value_heads");
  EXPECT_EQ(found[1].key, "n_kv_heads");
}

TEST(UnknownKeys, SectionsAreOfTheirOwnClass) {
  const Config c = parse_config(
      R"({"model_type": "llava", "text_config": {"model_type": "llama", "vocab_sise": 3},
          "vision_config": {"model_type": "clip_vision_model", "patch_size": 3}})",
      "tiny");
  c.section("text_config").count({"vocab_size"}, 0);
  c.section("vision_config").count({"image_size"}, 0);
  const auto found = unknown_keys(c);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, "text_config.vocab_sise");
  EXPECT_EQ(found[0].nearest.at(0), "vocab_size");
}

}  // namespace
}  // namespace headroom::model
