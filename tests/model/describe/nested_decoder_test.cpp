// Decoders whose config nests their keys in text_config.
#include "model/describe/nested_decoder.hpp"

#include <gtest/gtest.h>

#include <string>

#include "model/checkpoint/model.hpp"

namespace headroom::model {
namespace {

constexpr std::string_view sizes =
    R"("model_type": "qwen3_moe", "hidden_size": 64, "intermediate_size": 96,
       "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
       "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "vocab_size": 100,
       "max_position_embeddings": 512)";

Model model_of(const std::string& keys) {
  return make_model(
      "tiny", parse_config(R"({"architectures": ["Qwen3MoeForCausalLM"], )" + keys + "}", "tiny"),
      "test");
}
std::string nested(std::string_view text) {
  return R"("model_type": "qwen3_moe", "text_config": {)" + std::string(text) + "}";
}

TEST(NestedDecoder, IsTheOneOfItsSection) {
  const Model flat = model_of(std::string(sizes)), inner = model_of(nested(sizes));
  EXPECT_EQ(inner.profile.parameters, flat.profile.parameters);
  EXPECT_EQ(inner.shape.kv_heads, flat.shape.kv_heads);
  EXPECT_EQ(inner.shape.positions, flat.shape.positions);
  ASSERT_EQ(inner.part.caches.size(), flat.part.caches.size());
  EXPECT_EQ(inner.part.caches[0].per_token, flat.part.caches[0].per_token);
  EXPECT_TRUE(inner.unknown_keys.empty());
}

TEST(NestedDecoder, KeysOfTheWholeApply) {
  const std::string quantised =
      nested(sizes) + R"(, "quantization_config": {"quant_method": "fp8"})";
  EXPECT_EQ(model_of(quantised).checkpoint_scheme, "fp8");
  const auto tied = [](const std::string& keys) { return model_of(keys).profile.tied_head; };
  EXPECT_FALSE(tied(nested(sizes)));
  EXPECT_TRUE(tied(nested(sizes) + R"(, "tie_word_embeddings": true)"));
}

/// A section of another class is no description of this one.
TEST(NestedDecoder, OtherSectionsAreNotRead) {
  EXPECT_THROW(model_of(nested(R"("model_type": "llama", "hidden_size": 64)")), ConfigError);
  EXPECT_THROW(model_of(nested(R"("hidden_size": 64)")), ConfigError);
}

}  // namespace
}  // namespace headroom::model
