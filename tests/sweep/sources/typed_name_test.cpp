// Names that people type for models of the catalogue.
#include "sweep/sources/typed_name.hpp"

#include <gtest/gtest.h>

#include "hardware/names.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
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
  is("amd/Kimi-K2.5-MXFP4", "moonshotai/Kimi-K2.5", "mxfp4");
  is("amd/Llama-3.1-8B-Instruct-FP8-KV", "meta-llama/Llama-3.1-8B", "fp8");
  is("RedHatAI/phi-4-FP8-dynamic", "microsoft/phi-4", "fp8-channel");
  is("hugging-quants/Mistral-Large-Instruct-2407-GPTQ-INT4",
     "mistralai/Mistral-Large-Instruct-2407", "gptq-int4");
}

/// Sources: names of mlx-community, lmstudio-community, RedHatAI, cyankiwi, Intel and nvidia on the
/// hub, 2026-11.
TEST(TypedName, EachPublisherHasEndingsOfItsOwn) {
  is("mlx-community/Qwen3.5-35B-A3B-4bit", "Qwen/Qwen3.5-35B-A3B", "mlx-4bit");
  is("mlx-community/Qwen3-Next-80B-A3B-Instruct-4bit-DWQ", "Qwen/Qwen3-Next-80B-A3B-Instruct",
     "mlx-4bit");
  is("mlx-community/Qwen3-8B-nvfp4", "Qwen/Qwen3-8B", "mlx-nvfp4");
  is("lmstudio-community/Qwen3.5-27B-MLX-8bit", "Qwen/Qwen3.5-27B", "mlx-8bit");
  is("cyankiwi/GLM-4.7-Flash-AWQ-4bit", "zai-org/GLM-4.7-Flash", "awq-int4");
  is("Intel/Qwen3-30B-A3B-int4-AutoRound", "Qwen/Qwen3-30B-A3B", "auto-round-int4");
  is("RedHatAI/Qwen3-8B-quantized.w4a16", "Qwen/Qwen3-8B", "int4");
  is("RedHatAI/Qwen3-8B-quantized.w8a8", "Qwen/Qwen3-8B", "w8a8-int8");
  is("nvidia/Llama-3.3-70B-Instruct-FP4", "meta-llama/Llama-3.3-70B-Instruct", "nvfp4");
  is("unsloth/Llama-3.3-70B-Instruct-bnb-4bit", "meta-llama/Llama-3.3-70B-Instruct", "nf4");
  is("google/gemma-3-27b-it-qat-q4_0-gguf", "google/gemma-3-27b-it", "q4_0");
  is("bartowski/Qwen_Qwen3-32B-GGUF:Q5_K_M", "Qwen/Qwen3-32B", "q5_K_M");
  EXPECT_FALSE(typed_name("someone/Qwen3-8B-4bit")) << "of several methods";
  EXPECT_FALSE(typed_name("someone/Llama-3.3-70B-Instruct-FP4")) << "bitsandbytes has an fp4 too";
}

TEST(TypedName, AnAddressIsTheModelOfItsPage) {
  is("https://huggingface.co/Qwen/Qwen3-8B", "Qwen/Qwen3-8B", "");
  is("https://huggingface.co/unsloth/Qwen3-8B-GGUF/tree/main", "Qwen/Qwen3-8B", "");
  is("hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M", "Qwen/Qwen3-8B", "q4_K_M");
}

/// Its text is shown among what is assumed.
TEST(TypedName, AnAddressWithASecretOrOfAnotherSiteIsNone) {
  for (const char* address :
       {"https://user:secret@huggingface.co/Qwen/Qwen3-8B:Q4_K_M",
        "https://huggingface.co/Qwen/Qwen3-8B?token=secret", "https://example.org/Qwen/Qwen3-8B"})
    EXPECT_FALSE(typed_name(address)) << address;
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
  is("gemma3:27b-it-qat", "google/gemma-3-27b-it", "q4_0");
  is("qwen3-coder:30b", "Qwen/Qwen3-Coder-30B-A3B-Instruct", "");
  is("llama3.2-vision:11b", "meta-llama/Llama-3.2-11B-Vision-Instruct", "");
  is("qwen3-8b:Q5_K_M", "Qwen/Qwen3-8B", "q5_K_M");
  is("moonshotai/Kimi-K2.5:Q4_K_M", "moonshotai/Kimi-K2.5", "q4_K_M");
}

/// ollama's tag of a mixture says all its parameters, and no active ones.
TEST(TypedName, ActiveParametersMayBeLeftOut) {
  is("qwen3.5:35b", "Qwen/Qwen3.5-35B-A3B", "");
  is("gemma4:26b", "google/gemma-4-26B-A4B", "");
  is("qwen3-next:80b", "Qwen/Qwen3-Next-80B-A3B-Instruct", "");
  is("qwen3.6:35b-q4_K_M", "Qwen/Qwen3.6-35B-A3B", "q4_K_M");
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

/// A file is made from the published checkpoint, and keeps its MXFP4 experts.
TEST(TypedName, AGgufFileHasWhatThatPrecisionOfTheModelHas) {
  for (const char* name : {"openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V4-Flash"}) {
    const model::Model plain = resolve_model(name);
    const model::Model file = resolve_model(std::string(name) + "-GGUF:Q4_K_M");
    ASSERT_EQ(file.checkpoint_scheme, "q4_K_M");
    EXPECT_EQ(model::quantise(file, model::scheme("q4_K_M")).total,
              model::quantise(plain, model::scheme("q4_K_M")).total);
  }
  for (const char* plain :
       {"openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V4-Flash", "Qwen/Qwen3-8B"})
    for (const auto& [tag, scheme] :
         {std::pair{":F16", "gguf-f16"}, {":BF16", "gguf-bf16"}, {":F32", "gguf-f32"}}) {
      const model::Model file = resolve_model(std::string(plain) + "-GGUF" + tag);
      EXPECT_EQ(file.checkpoint_scheme, scheme);
      EXPECT_EQ(model::quantise(file, model::scheme(scheme)).total,
                model::quantise(resolve_model(plain), model::scheme(scheme)).total)
          << plain << tag;
    }
}

}  // namespace
}  // namespace headroom::sweep
