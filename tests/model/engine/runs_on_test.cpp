// Which engines run a model's class.
#include "model/engine/runs_on.hpp"

#include <gtest/gtest.h>

#include "hardware/catalogue.hpp"
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

/// Source: mlx-lm 0.32.2 utils.py MODEL_REMAPPING and models/. Its classes were made of each of
/// these models' configs. Those that it serves had as many parameters as the model's text part.
TEST(ServesClass, MlxLmServesDecodersOfItsModelTypes) {
  const auto serves = [](const char* model) {
    return serves_class(engine("mlx-lm"), test::catalogue_model(model));
  };
  for (const char* model :
       {"Qwen/Qwen3-0.6B", "openai/gpt-oss-20b", "Qwen/Qwen2.5-VL-7B-Instruct",
        "google/gemma-4-E4B-it", "tiiuae/falcon-mamba-7b", "moonshotai/Kimi-K2-Instruct"})
    EXPECT_TRUE(serves(model)) << model;
  for (const char* model :
       {"BAAI/bge-m3", "google-t5/t5-small", "openai/whisper-tiny", "facebook/opt-125m",
        "intfloat/e5-mistral-7b-instruct", "google/embeddinggemma-300m",
        "Skywork/Skywork-Reward-Llama-3.1-8B-v0.2", "deepseek-ai/DeepSeek-V4.1-Flash",
        "MiniMaxAI/MiniMax-Text-01", "lightonai/LightOnOCR-1B-1025"})
    EXPECT_FALSE(serves(model)) << model;
}

/// bitsandbytes converts weights that are not quantised yet; transformers' row names NVIDIA's
/// cards.
TEST(AskedPrecisions, ConvertPlainCheckpointsOnTheCardsOfTheRow) {
  const auto names = [](const char* by, const char* model, const Machine& on) {
    return asked_precisions(engine(by), on, test::catalogue_model(model));
  };
  const auto on = [](const char* name) { return parse_machine(name, shipped_catalogue()); };
  using Names = std::vector<std::string_view>;
  const Names more{"auto", "int8", "nf4"}, own{"auto"};
  EXPECT_EQ(names("transformers", "Qwen/Qwen3-8B", on("rtx-4090")), more);
  EXPECT_EQ(names("transformers", "Qwen/Qwen3-8B-FP8", on("rtx-4090")), own);
  EXPECT_EQ(names("transformers", "Qwen/Qwen3-8B", on("m3-max-48gb")), own);
  EXPECT_EQ(names("transformers", "Qwen/Qwen3-8B", on("1x rtx-4090 + 1x rx-7900-xtx")), own);
  EXPECT_EQ(names("vllm", "Qwen/Qwen3-8B", on("rtx-4090")),
            usual_precisions(engine("vllm"), on("rtx-4090")));
}

/// Sources: llama.cpp docs/multimodal.md and docs/multimodal/: pre-quantized models, MiniCPM-V,
/// LLaVA; conversion/base.py get_model_architecture takes the classes of a config's parts.
TEST(ServesClass, LlamaCppReadsVisionModelsByTheClassesOfTheirParts) {
  for (const char* model :
       {"OpenGVLab/InternVL3-8B", "OpenGVLab/InternVL3_5-8B-HF", "mistralai/Pixtral-12B-2409",
        "openbmb/MiniCPM-V-2_6", "openbmb/MiniCPM-V-4_5", "openbmb/MiniCPM-o-2_6",
        "liuhaotian/llava-v1.5-7b", "llava-hf/llava-1.5-7b-hf"})
    EXPECT_TRUE(serves_class(engine("llama.cpp"), test::catalogue_model(model))) << model;
}

/// Sources: vLLM docs/getting_started/installation/gpu.md of v0.14 and v0.21; SGLang
/// model_runner.py, sgl-kernel/setup_rocm.py; tabbyAPI common/hardware.py; TensorRT-LLM support
/// matrix.
TEST(RunsOn, CardsOfTheArchitecturesThatItHasKernelsFor) {
  struct Row {
    const char* engine;
    std::vector<const char*> on, not_on;
  };
  const Row rows[] = {
      {"vllm",
       {"t4", "rtx-3090", "b200-sxm-180gb", "mi210", "mi300x", "mi355x", "rx-7900-xtx",
        "rx-9070-xt", "radeon-8060s-128gb", "tpu-v5e", "arc-b580"},
       {"v100-sxm-32gb", "p100-16gb", "gtx-1080-ti", "mi50", "mi100", "radeon-vii", "rx-6800",
        "rx-5700-xt", "m3-ultra-512gb"}},
      {"vllm@0.19", {"v100-sxm-32gb", "t4", "mi210"}, {"p100-16gb", "p40", "mi100"}},
      {"sglang",
       {"t4", "rtx-3090", "mi300x", "mi355x"},
       {"v100-sxm-32gb", "p100-16gb", "mi210", "mi50", "rx-7900-xtx"}},
      {"tensorrt-llm", {"rtx-3090", "h100-sxm-80gb"}, {"t4", "v100-sxm-32gb", "mi300x"}},
      {"exllamav3",
       {"rtx-3090", "rtx-5090"},
       {"t4", "rtx-2080-ti", "v100-sxm-32gb", "rx-7900-xtx"}},
      {"llama.cpp", {"p100-16gb", "gtx-1080-ti", "mi50", "mi100", "m3-ultra-512gb"}, {"tpu-v5e"}}};
  const auto machine = [](const char* card) {
    return parse_machine(std::string("1x ") + card, shipped_catalogue());
  };
  for (const Row& row : rows) {
    for (const char* card : row.on)
      EXPECT_TRUE(runs_on(engine(row.engine), machine(card))) << row.engine << ' ' << card;
    for (const char* card : row.not_on)
      EXPECT_FALSE(runs_on(engine(row.engine), machine(card))) << row.engine << ' ' << card;
  }
}

TEST(RunsOn, EveryCardOfAmdStatesItsArchitecture) {
  for (const Device& card : shipped_catalogue().devices)
    EXPECT_EQ(card.vendor == "amd", !card.architecture.empty()) << card.name;
}

TEST(RunsOn, ReadsWhatItWritesOfCards) {
  for (const char* text : {"amd", "nvidia 7.5", "nvidia 10.x", "amd gfx90a gfx11"})
    EXPECT_EQ(text_of(read_cards(text)), text);
  for (const char* text : {"", "nvidia 8", "nvidia x", "amd navi31"})
    EXPECT_THROW(read_cards(text), std::invalid_argument) << text;
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
