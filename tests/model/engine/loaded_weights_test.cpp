// Weights that an engine loads of a model with towers of images.
#include "model/engine/loaded_weights.hpp"

#include <gtest/gtest.h>

#include "model/checkpoint/text_only.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using test::catalogue_model;

Bytes loaded_by(const char* engine_name, const Model& model) {
  return loaded_weights(model, scheme("bf16"), engine(engine_name)).total;
}

TEST(LoadedWeights, TowersAreLeftOutByAnEngineThatNeverLoadsThem) {
  const Model whole = catalogue_model("Qwen/Qwen3.6-27B");
  const Bytes all = quantise(whole, scheme("bf16")).total;
  const Bytes text = quantise(without_towers(whole), scheme("bf16")).total;
  ASSERT_LT(text, all);
  EXPECT_EQ(loaded_by("mlx-lm", whole), text);
  EXPECT_EQ(loaded_by("exllamav3", whole), text);
  for (const char* loads : {"vllm", "llama.cpp", "transformers"})
    EXPECT_EQ(loaded_by(loads, whole), all) << loads;
}

TEST(LoadedWeights, OwnTheModelThatTheyName) {
  QuantisedModel weights;
  {
    const Model whole = catalogue_model("Qwen/Qwen3.6-27B");
    weights = loaded_weights(whole, scheme("bf16"), engine("mlx-lm"));
  }
  EXPECT_TRUE(weights.model->text_only);
  EXPECT_EQ(weights.model->name, "Qwen/Qwen3.6-27B");
}

TEST(LoadedWeights, AreAllOfAModelWithoutTowers) {
  const Model text = catalogue_model("Qwen/Qwen3-32B");
  EXPECT_EQ(loaded_by("mlx-lm", text), quantise(text, scheme("bf16")).total);
}

}  // namespace
}  // namespace headroom::model
