// Counts besides the total: what checkpoints hold for multi-token prediction, the parts of
// multimodal models, and parameters without embeddings.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "model/describe/components.hpp"
#include "published.hpp"

namespace headroom::oracle {
namespace {

using model::Model;
using model::Tensor;

/// Elements that a file holds: parameters, and buffers that are saved.
Size stored(const std::vector<Tensor>& tensors) {
  Size sum = 0;
  for (const Tensor& t : tensors)
    if (t.is_parameter() ? t.tied_to.empty() : t.persistent) sum += t.elements();
  return sum;
}
Size parameters(const std::vector<Tensor>& tensors) {
  Size sum = 0;
  for (const Tensor& t : tensors)
    if (t.is_parameter() && t.tied_to.empty()) sum += t.elements();
  return sum;
}
Size copies(const std::vector<Tensor>& tensors) {
  Size sum = 0;
  for (const Tensor& t : tensors)
    if (t.is_parameter() && !t.tied_to.empty()) sum += t.elements();
  return sum;
}

/// Elements of all tensors of published checkpoints that have multi-token-prediction modules.
/// Source: huggingface.co/api/models/NAME?expand[]=safetensors, read in 2026; of DeepSeek-V3 the
/// entries BF16 (3,918,786,560) and F8_E4M3 (680,571,043,840) and the 59 * 256 router biases, since
/// its F32 entry counts scales as well.
struct Checkpoint {
  std::string_view model;
  Size total;
};
constexpr Checkpoint checkpoints[] = {
    {"deepseek-ai/DeepSeek-V3", 3'918'786'560 + 680'571'043'840 + 59 * 256},
    {"zai-org/GLM-4.5-Air", 110'468'824'832},
    {"Qwen/Qwen3-Next-80B-A3B-Thinking", 81'324'862'720},
    {"deepseek-ai/DeepSeek-V3.2", 685'355'329'792},
    {"zai-org/GLM-5.2", 753'329'940'480},
    {"Qwen/Qwen3.5-27B", 27'781'427'952},
    {"Qwen/Qwen3.5-397B-A17B", 403'397'928'944},
};

TEST(MultiTokenPrediction, WithTheModelIsThePublishedCheckpoint) {
  for (const Checkpoint& row : checkpoints) {
    SCOPED_TRACE(row.model);
    const Model& m = cached_model(std::string(row.model));
    const auto& further = m.multi_token_prediction;
    EXPECT_EQ(further.modules, 1);
    EXPECT_FALSE(further.source.empty());
    EXPECT_EQ(stored(m.part.tensors) + stored(further.part.tensors) + copies(further.part.tensors),
              row.total);
  }
}

/// "11.5B unique parameters, excluding the shared 0.9B Embedding and 0.9B output Head".
/// Source: deepseek-ai/DeepSeek-V3, README_WEIGHTS.md. eh_proj counted there or not, it is 11.5 or
/// 11.6.
TEST(MultiTokenPrediction, OfDeepSeekIsAsItsReadmeSays) {
  const auto& further = cached_model("deepseek-ai/DeepSeek-V3").multi_token_prediction;
  constexpr Size projection = 2 * 7168 * Size{7168};
  EXPECT_EQ(std::llround(static_cast<double>(parameters(further.part.tensors) - projection) / 1e8),
            115);
  EXPECT_EQ(copies(further.part.tensors), 2 * 129280 * Size{7168});
}

/// Source: the tensors of Qwen/Qwen3.5-397B-A17B, summed by name ("mtp.*").
TEST(MultiTokenPrediction, OfAQwenMixture) {
  const auto& further = cached_model("Qwen/Qwen3.5-397B-A17B").multi_token_prediction;
  EXPECT_EQ(parameters(further.part.tensors), 6'595'568'128);
  EXPECT_EQ(copies(further.part.tensors), 0);
}

TEST(MultiTokenPrediction, WhatIsNotDescribedIsNamedWithoutANumber) {
  const auto& further = cached_model("MiniMaxAI/MiniMax-M2.5").multi_token_prediction;
  EXPECT_EQ(further.modules, 3);
  EXPECT_TRUE(further.source.empty());
  EXPECT_TRUE(further.part.tensors.empty());
  EXPECT_EQ(cached_model("meta-llama/Meta-Llama-3-8B").multi_token_prediction.modules, 0);
  EXPECT_EQ(cached_model("moonshotai/Kimi-K2-Instruct").multi_token_prediction.modules, 0);
}

/// Source: the module names of transformers 5.23 on the meta device
/// (tests/oracle/data/catalogue.tar.gz), summed by hand: towers, their mergers and projectors, and
/// what is left.
struct Parts {
  std::string_view model;
  Size language, vision, audio, projector, other;
};
constexpr Parts multimodal[] = {
    {"google/gemma-3-27b-it", 27'009'346'304, 416'866'032, 0, 6'194'304, 0},
    {"Qwen/Qwen2.5-VL-7B-Instruct", 7'615'616'512, 631'975'680, 0, 44'574'464, 0},
    {"Qwen/Qwen3-VL-32B-Instruct", 32'762'123'264, 415'891'440, 0, 179'375'360, 0},
    {"llava-hf/llava-1.5-7b-hf", 6'738'939'904, 303'507'456, 0, 20'979'712, 0},
    {"meta-llama/Llama-4-Scout-17B-16E-Instruct", 107'769'861'120, 850'960'896, 0, 20'971'520, 0},
    {"meta-llama/Llama-3.2-11B-Vision", 9'775'192'080, 863'567'379, 0, 31'461'376, 0},
    {"nvidia/Gemma-4-31B-IT-NVFP4", 30'697'345'280, 569'548'080, 0, 6'193'152, 0},
    {"openai/clip-vit-large-patch14", 123'060'480, 303'179'776, 0, 1'376'256, 1},
    {"meta-llama/Meta-Llama-3-8B", 8'030'261'248, 0, 0, 0, 0},
    {"google-t5/t5-small", 60'506'624, 0, 0, 0, 0},
};

TEST(Components, OfMultimodalModels) {
  for (const Parts& row : multimodal) {
    SCOPED_TRACE(row.model);
    const Model& m = cached_model(std::string(row.model));
    const std::array<Size, 5> expected = {row.language, row.vision, row.audio, row.projector,
                                          row.other};
    const auto ours = model::components_of(m.part, m.profile);
    EXPECT_EQ(ours, expected);
    EXPECT_EQ(std::accumulate(ours.begin(), ours.end(), Size{0}), m.profile.parameters);
  }
}

/// Elements of checkpoints of classes that transformers does not have, counted as 16 bit each.
/// `beside`: elements of the file besides parameters. In Kimi-VL's they are 26 x 64 router biases
/// and 27 rotary tables of 32 in fp32. Sources: github gogongxt/python,
/// scripts/models/deepseek_ocr.md, which lists all tensors; a census of the files of Kimi-VL
/// ("total_params").
struct CustomCheckpoint {
  std::string_view model;
  Size total, beside;
};
constexpr CustomCheckpoint custom_checkpoints[] = {
    {"deepseek-ai/DeepSeek-OCR", 3'336'106'240, 0},
    {"moonshotai/Kimi-VL-A3B-Instruct", 16'407'657'776, 26 * 64 + 27 * 32 * 2},
};

TEST(CustomClasses, CountAsTheirPublishedCheckpoints) {
  for (const CustomCheckpoint& row : custom_checkpoints)
    EXPECT_EQ(cached_model(std::string(row.model)).profile.parameters + row.beside, row.total)
        << row.model;
}

/// Elements of all tensors of published multimodal checkpoints that no class of transformers reads.
/// `left_out` counts what the file holds besides the model, by hand.
struct Whole {
  std::string_view model;
  Size total, left_out;
  bool stores_tied_head = false;
};
/// The low-rank adapters of Phi-4-multimodal: ranks 256 and 320 on four matrices of each layer.
constexpr Size adapters =
    32 * (256 + 320) * (Size{3072 + 5120} + (3072 + 3072) + (3072 + 16384) + (8192 + 3072));
/// Sources, read 2026-11: "Parameters" of the model's page at build.nvidia.com; the header-derived
/// CHECKPOINT_PARAMS of a public experiment with the checkpoint (5574460384); metadata.total_size /
/// 2 of github oguzaybilir/LocateAnything-3B-FineTuning model.safetensors.index.json.
constexpr Whole wholes[] = {
    {"microsoft/Phi-3.5-vision-instruct", 4'146'621'440, 0},
    {"microsoft/Phi-4-multimodal-instruct", 5'574'460'384, adapters},
    {"nvidia/LocateAnything-3B", 7'661'331'936 / 2, 0, true},
};

TEST(Checkpoints, OfMultimodalModelsHoldThePublishedTotals) {
  for (const Whole& row : wholes) {
    SCOPED_TRACE(row.model);
    const Model& m = cached_model(std::string(row.model));
    const Size head = row.stores_tied_head ? copies(m.part.tensors) : 0;
    EXPECT_EQ(stored(m.part.tensors) + head + row.left_out, row.total);
  }
}

/// "Number of Parameters (Non-Embedding)" of the model cards, in units of their last digit.
/// Source: huggingface.co/Qwen/NAME, README.md. (That of Qwen2.5-72B says 70.0B where its own total
/// and vocabulary leave 70.2B.)
struct Card {
  std::string_view model;
  double billions, unit;
};
constexpr Card cards[] = {
    {"Qwen/Qwen3-0.6B", 0.44, 0.01},   {"Qwen/Qwen3-1.7B", 1.4, 0.1},
    {"Qwen/Qwen3-4B", 3.6, 0.1},       {"Qwen/Qwen3-8B", 6.95, 0.01},
    {"Qwen/Qwen3-14B", 13.2, 0.1},     {"Qwen/Qwen3-32B", 31.2, 0.1},
    {"Qwen/Qwen3-30B-A3B", 29.9, 0.1}, {"Qwen/Qwen2.5-7B", 6.53, 0.01},
};

TEST(NonEmbedding, IsWhatModelCardsSay) {
  for (const Card& row : cards) {
    const Model& m = cached_model(std::string(row.model));
    const double ours = static_cast<double>(model::non_embedding_parameters(m.part)) / 1e9;
    EXPECT_NEAR(ours, row.billions, row.unit / 2) << row.model;
  }
}

}  // namespace
}  // namespace headroom::oracle
