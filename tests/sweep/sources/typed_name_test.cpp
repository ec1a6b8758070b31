// Names that people type for models of the catalogue.
#include "sweep/sources/typed_name.hpp"

#include <gtest/gtest.h>

#include "hardware/names.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

void is(const char* text, const char* model, const char* scheme) {
  const auto found = typed_name(text);
  ASSERT_TRUE(found) << text;
  EXPECT_EQ(found->model, model) << text;
  EXPECT_EQ(found->scheme, scheme) << text;
}

TEST(TypedName, ConversionsOfAKnownModel) {
  is("unsloth/Qwen3-8B-GGUF:Q4_K_M", "Qwen/Qwen3-8B", "q4_K_M");
  is("unsloth/gemma-4-26B-A4B-it-qat-GGUF:Q4_0", "google/gemma-4-26B-A4B", "q4_0");
  is("Qwen/Qwen3-8B-AWQ", "Qwen/Qwen3-8B", "awq-int4");
  is("nvidia/Qwen3-8B-NVFP4", "Qwen/Qwen3-8B", "nvfp4");
  is("RedHatAI/phi-4-FP8-dynamic", "microsoft/phi-4", "fp8-channel");
  is("hugging-quants/Mistral-Large-Instruct-2407-GPTQ-INT4",
     "mistralai/Mistral-Large-Instruct-2407", "gptq-int4");
}

TEST(TypedName, CaseSeparatorsOwnersAndTagsDoNotMatter) {
  is("QWEN3_8B", "Qwen/Qwen3-8B", "");
  is("qwen3:8b", "Qwen/Qwen3-8B", "");
  is("qwen3:8b-q4_k_m", "Qwen/Qwen3-8B", "q4_K_M");
  is("Microsoft/Phi 4", "microsoft/phi-4", "");
}

/// Sources: ollama.com/library, names and tags of these models.
TEST(TypedName, NamesOfOllama) {
  is("gemma3:27b", "google/gemma-3-27b-it", "");
  is("gemma3:27b-it-q4_K_M", "google/gemma-3-27b-it", "q4_K_M");
  is("llama3.1:8b-instruct-q8_0", "meta-llama/Llama-3.1-8B-Instruct", "q8_0");
  is("llama3.3:70b", "meta-llama/Llama-3.3-70B-Instruct", "");
  is("deepseek-r1:32b", "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "");
  is("qwen3:30b-a3b", "Qwen/Qwen3-30B-A3B", "");
  is("qwen3:30b", "Qwen/Qwen3-30B-A3B", "");
  is("phi4", "microsoft/phi-4", "");
  is("qwen3-8b:Q5_K_M", "Qwen/Qwen3-8B", "q5_K_M");
  is("moonshotai/Kimi-K2.5:Q4_K_M", "moonshotai/Kimi-K2.5", "q4_K_M");
}

/// A published checkpoint of that precision is taken itself, with its own scheme.
TEST(TypedName, TheCatalogueHasSomeConversions) {
  is("qwen3_32b-fp8", "Qwen/Qwen3-32B-FP8", "");
  is("qwen3_32b", "Qwen/Qwen3-32B", "");
}

TEST(TypedName, NothingIsGuessed) {
  EXPECT_FALSE(typed_name("Qwen3-9B"));
  EXPECT_FALSE(typed_name("microsft/phi-4")) << "a typing error of the owner";
  EXPECT_THROW(typed_name("unsloth/Qwen3-8B-GGUF:UD-Q4_K_XL"), UnknownName);
}

TEST(TypedName, ThePrecisionIsThatOfTheName) {
  const model::Model model = resolve_model("qwen3:8b-q4_k_m");
  EXPECT_EQ(model.name, "Qwen/Qwen3-8B");
  EXPECT_EQ(model.checkpoint_scheme, "q4_K_M");
  ASSERT_FALSE(model.assumed.empty());
  EXPECT_EQ(model.assumed.back(), "qwen3:8b-q4_k_m is Qwen/Qwen3-8B in q4_K_M");
}

}  // namespace
}  // namespace headroom::sweep
