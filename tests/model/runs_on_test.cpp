// Which engines run a model's class.
#include "model/engine/runs_on.hpp"

#include <gtest/gtest.h>

#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// Sources: llama.cpp of 2026-09 conversion/*.py; vLLM 0.33 model_executor/models/registry.py.
TEST(ServesClass, ByTheEnginesOwnLists) {
  const auto serves = [](const char* engine, const char* model) {
    return serves_class(headroom::model::engine(engine), test::catalogue_model(model));
  };
  EXPECT_TRUE(serves("llama.cpp", "Qwen/Qwen3-0.6B"));
  EXPECT_FALSE(serves("llama.cpp", "facebook/opt-125m"));
  EXPECT_TRUE(serves("transformers", "facebook/opt-125m"));
  EXPECT_TRUE(serves("vllm", "openai/whisper-tiny"));
  EXPECT_FALSE(serves("vllm", "google-t5/t5-small"));
  EXPECT_TRUE(serves("transformers", "google-t5/t5-small"));
}

TEST(ServesClass, AFileInGgufRunsUnderTheNameOfItsDescription) {
  Model model = test::catalogue_model("Qwen/Qwen3-0.6B");
  model.architecture = "BailingHybridForCausalLM";  // no converter reads a config of that name
  EXPECT_TRUE(serves_class(engine("llama.cpp"), model));
  model.architecture = "AnotherForCausalLM";
  EXPECT_FALSE(serves_class(engine("llama.cpp"), model));
}

TEST(ServesClass, NoneIsEstimatedUnderAnEngineWithoutIt) {
  const Machine box = test::machine(1, 24, 64);
  const QuantisedModel opt = quantise(test::catalogue_model("facebook/opt-125m"), scheme("bf16"));
  EXPECT_EQ(evaluate(test::scenario(opt, box, "llama.cpp")).reason, Reason::model_unsupported);
  EXPECT_EQ(evaluate(test::scenario(opt, box, "transformers")).reason, Reason::none);
}

TEST(ServesClass, ARegistryWithoutTheClassIsAWarning) {
  const Model& neo = test::catalogue_model("EleutherAI/gpt-neo-125m");
  EXPECT_EQ(
      class_warning(engine("vllm"), neo),
      "vLLM's registry lacks GPTNeoForCausalLM: it runs transformers' implementation, if that "
      "suits");
  EXPECT_EQ(class_warning(engine("transformers"), neo), "");
  EXPECT_EQ(class_warning(engine("vllm"), test::catalogue_model("Qwen/Qwen3-0.6B")), "");
}

}  // namespace
}  // namespace headroom::model
