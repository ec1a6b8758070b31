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

std::vector<std::string> unknown_of_quantiser(std::string_view section) {
  std::vector<std::string> keys;
  for (const auto& each : unknown(R"(, "quantization_config": )" + std::string(section)))
    keys.push_back(each.key);
  return keys;
}

/// The keys besides the bits are how the file was made (AutoAWQ, GPTQModel, llm-compressor).
TEST(UnknownKeys, OfQuantisersAreKnownByName) {
  EXPECT_EQ(unknown_of_quantiser(R"({"quant_method": "awq", "bits": 4, "group_size": 128,
                                     "zero_point": true, "version": "gemm"})"),
            std::vector<std::string>{});
  EXPECT_EQ(unknown_of_quantiser(R"({"quant_method": "awq", "bits": 4, "grup_size": 64})"),
            std::vector<std::string>{"quantization_config.grup_size"});
  EXPECT_EQ(unknown_of_quantiser(R"({"quant_method": "gptq", "bits": 4, "desc_act": true,
                                     "sparsity": "2:4"})"),
            std::vector<std::string>{"quantization_config.sparsity"});
}

/// Entries that say the same are read once. One that says more is read too.
TEST(UnknownKeys, InOneOfManyAlikeModules) {
  EXPECT_EQ(
      unknown_of_quantiser(
          R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {
              "model.layers.0.mlp.up_proj": {"quant_algo": "FP8"},
              "model.layers.0.mlp.down_proj": {"quant_algo": "FP8"},
              "model.layers.1.mlp.up_proj": {"quant_algo": "FP8", "rotation": "hadamard"},
              "model.layers.1.mlp.down_proj": {"quant_algo": "FP8"}}})"),
      std::vector<std::string>{
          "quantization_config.quantized_layers.model.layers.1.mlp.up_proj.rotation"});
}

TEST(UnknownKeys, LeaveNoVerdictSure) {
  const std::string config =
      R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64,
          "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
          "vocab_size": 100, "n_kv_heads": 2})";
  const Model model = make_model("tiny", parse_config(config, "tiny"), "test");
  EXPECT_TRUE(is_doubtful(model));
  ASSERT_EQ(doubts(model).size(), 1U);
  EXPECT_NE(doubts(model)[0].find("no verdict is certain: n_kv_heads"), std::string::npos);
}

}  // namespace
}  // namespace headroom::model
