// The description refuses unknown words for rotary embeddings, activations and norms. No such word
// falls back to a default.
#include <gtest/gtest.h>

#include <string>

#include "model/checkpoint/model.hpp"

namespace headroom::model {
namespace {

/// The error message of describing `json`, or "described" if there is none.
std::string words_refusal(const std::string& json) {
  try {
    make_model("m", parse_config(json, "a/config.json"), "test");
    return "described";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

std::string llama(const std::string& more) {
  return R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64,
      "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
      "vocab_size": 100)" +
         more + "}";
}

bool names(const std::string& message, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts)
    if (message.find(part) == std::string::npos) return false;
  return true;
}

TEST(ConfigWords, AnUnknownRotaryEmbeddingIsRefusedWhereverItStands) {
  for (const std::string key : {"rope_scaling", "rope_parameters"})
    for (const std::string word : {"rope_type", "type"}) {
      const std::string found =
          words_refusal(llama(", \"" + key + "\": {\"" + word + "\": \"spiral\"}"));
      EXPECT_TRUE(names(found, {"a/config.json", "'" + key + "." + word + "'", "'spiral'",
                                "known:", "yarn", "llama3", "longrope", "mrope"}))
          << found;
    }
  const std::string by_layer =
      words_refusal(llama(R"(, "rope_parameters": {"full_attention": {"rope_type": "default"},
                                     "sliding_attention": {"rope_type": "yarm"}})"));
  EXPECT_TRUE(names(by_layer, {"'rope_parameters.sliding_attention.rope_type'", "'yarm'"}))
      << by_layer;
  const std::string section =
      words_refusal(llama(R"(, "vision_config": {"rope_parameters": {"rope_type": "axail"}})"));
  EXPECT_TRUE(names(section, {"'vision_config.rope_parameters.rope_type'", "'axail'"})) << section;
}

TEST(ConfigWords, RotaryEmbeddingsOfPublishedConfigsAreKnown) {
  for (const std::string word : {"default", "linear", "dynamic", "yarn", "longrope", "su", "llama3",
                                 "mrope", "proportional"})
    EXPECT_EQ(
        words_refusal(llama(R"(, "rope_scaling": {"factor": 2.0, "rope_type": ")" + word + "\"}")),
        "described");
  EXPECT_EQ(words_refusal(llama(R"(, "rope_scaling": null)")), "described");
  // A "type" in an unrelated section is no rotary embedding.
  EXPECT_EQ(words_refusal(llama(R"(, "task_specific_params": {"type": "spiral"})")), "described");
}

TEST(ConfigWords, AnUnknownActivationIsRefusedAlsoWhereTheClassDoesNotReadIt) {
  const std::string read = words_refusal(llama(R"(, "hidden_act": "gleu")"));
  EXPECT_TRUE(names(read, {"a/config.json", "'hidden_act'", "'gleu'", "gelu"})) << read;
  const std::string other =
      words_refusal(llama(R"(, "text_config": {"hidden_activation": "gleu"})"));
  EXPECT_TRUE(names(other, {"'text_config.hidden_activation'", "'gleu'", "gelu_pytorch_tanh"}))
      << other;
  for (const std::string word :
       {"gelu", "gelu_new", "gelu_pytorch_tanh", "silu", "relu", "relu2", "quick_gelu", "tanh"})
    EXPECT_EQ(words_refusal(llama(R"(, "hidden_act": ")" + word + "\"")), "described") << word;
}

TEST(ConfigWords, AnUnknownNormIsRefused) {
  const auto tower = [](const std::string& norm) {
    return words_refusal(R"({"architectures": ["InternVLForConditionalGeneration"],
        "model_type": "internvl", "text_config": {"model_type": "llama", "hidden_size": 64,
          "intermediate_size": 128, "num_hidden_layers": 1, "num_attention_heads": 4,
          "vocab_size": 100},
        "vision_config": {"model_type": "internvl_vision", "hidden_size": 64,
          "intermediate_size": 128, "num_hidden_layers": 1, "num_attention_heads": 4,
          "image_size": [28, 28], "patch_size": [14, 14], "norm_type": ")" +
                         norm + "\"}}");
  };
  EXPECT_EQ(tower("layer_norm"), "described");
  EXPECT_EQ(tower("rms_norm"), "described");
  const std::string found = tower("rmsnorm");
  EXPECT_TRUE(names(
      found, {"a/config.json", "'vision_config.norm_type'", "'rmsnorm'", "layer_norm, rms_norm"}))
      << found;
}

}  // namespace
}  // namespace headroom::model
