// The rules of llama.cpp's quantisation mixes, tested on answers from its load logs and its
// fallback warnings. Models that llama.cpp does not have are tested too.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "model/checkpoint/quantisation/gguf.hpp"
#include "model/checkpoint/quantisation/mix.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using enum TensorClass;

MixQuestion ask(TensorClass tensor_class, Size index, Size layers, Size row = 4096) {
  MixQuestion q;
  q.tensor_class = tensor_class;
  q.index = index;
  q.of = layers;
  q.row = row;
  return q;
}

TEST(Mix, MoreBitsForOuterEighthsAndEveryThirdBetween) {
  // A load log of a 32-layer Q4_K_M model counts 33 q6_K tensors: the output and 16 of each class.
  int q6 = 0;
  for (Size i = 0; i < 32; ++i)
    q6 += mixed_format("q4_K_M", ask(feed_forward_down, i, 32)) == "q6_K";
  EXPECT_EQ(q6, 16);
  EXPECT_EQ(mixed_format("q4_K_M", ask(feed_forward_down, 3, 32)), "q6_K");
  EXPECT_EQ(mixed_format("q4_K_M", ask(feed_forward_down, 4, 32)), "q4_K");
  EXPECT_EQ(mixed_format("q4_K_M", ask(feed_forward_down, 6, 32)), "q6_K");
  EXPECT_EQ(mixed_format("q4_K_M", ask(attention_q, 0, 32)), "q4_K");
}

TEST(Mix, RowsThatNoBlockDividesFallBack) {
  EXPECT_EQ(mixed_format("q4_K_S", ask(attention_q, 9, 24, 896)), "q5_0");
  EXPECT_EQ(mixed_format("q6_K", ask(attention_q, 9, 24, 896)), "q8_0");
  EXPECT_EQ(mixed_format("q2_K", ask(attention_q, 9, 24, 896)), "q4_0");
  EXPECT_EQ(mixed_format("q5_K_S", ask(attention_q, 9, 24, 896)), "q5_1");
  EXPECT_EQ(mixed_format("iq4_xs", ask(attention_q, 9, 24, 896)), "iq4_nl");
  EXPECT_EQ(mixed_format("q4_K_S", ask(attention_q, 9, 24, 100)), "fp16");
  EXPECT_EQ(mixed_format("q8_0", ask(attention_q, 9, 24, 100)), "fp16");
}

TEST(Mix, OutputsAndTiedEmbeddingsHaveTheirOwnRule) {
  EXPECT_EQ(mixed_format("q4_0", ask(output, 0, 32)), "q6_K");
  EXPECT_EQ(mixed_format("q8_0", ask(output, 0, 32)), "q8_0");
  EXPECT_EQ(mixed_format("iq2_xs", ask(output, 0, 32)), "q5_K");
  MixQuestion question = ask(token_embedding, 0, 32);
  EXPECT_EQ(mixed_format("q4_K_M", question), "q4_K");
  question.tied = true;
  EXPECT_EQ(mixed_format("q4_K_M", question), "q6_K");
  question.falcon = true;
  EXPECT_EQ(mixed_format("q4_K_M", question), "q8_0");
}

TEST(Mix, HeadsExpertsAndImportanceMatter) {
  MixQuestion v = ask(attention_v, 10, 80);
  EXPECT_EQ(mixed_format("q2_K", v), "q3_K");
  v.gqa = 8;
  EXPECT_EQ(mixed_format("q2_K", v), "q4_K");
  v.seventy_b = true;
  EXPECT_EQ(mixed_format("q2_K", v), "q5_K");
  v.experts = 8;
  EXPECT_EQ(mixed_format("q2_K", v), "q8_0");
  EXPECT_EQ(mixed_format("iq2_xs", v), "q4_K");
  MixQuestion down = ask(feed_forward_down, 1, 32);
  EXPECT_EQ(mixed_format("iq4_xs", down), "q5_K");
  EXPECT_EQ(mixed_format("q4_0", down), "q4_0");
  down.importance = true;
  EXPECT_EQ(mixed_format("iq4_xs", down), "iq4_xs");
  EXPECT_EQ(mixed_format("q4_0", down), "q4_1");
  EXPECT_EQ(mixed_format("mxfp4-moe", down), "q8_0");
  down.stacked_experts = true;
  EXPECT_EQ(mixed_format("mxfp4-moe", down), "mxfp4");
}

TEST(Mix, ArchitecturesThatLlamaCppLacksAreRefusedByName) {
  Model model;
  model.name = "facebook/opt-125m";
  model.model_type = "opt";
  EXPECT_NE(refusal(model, scheme("Q4_K_M")).find("opt"), std::string::npos);
  EXPECT_TRUE(refusal(model, scheme("bf16")).empty());
  EXPECT_NE(refusal(model, scheme("gptq")).find("nothing to convert"), std::string::npos);
  EXPECT_FALSE(quantise(model, scheme("q4_K_M")).refusal.empty()) << "data, not an error";
  EXPECT_THROW(quantised_tensors(model, scheme("q4_K_M")), std::invalid_argument);
}

/// Bytes of the GGUF file without its header. The file does not include the towers of `model`.
double file_bytes(const std::string& name, const char* format) {
  const Model& model = test::catalogue_model(name);
  const auto held = headroom::model::quantised_tensors(model, scheme(format));
  double bytes = 0;
  for (const Tensor* tensor : language_tensors(model))
    bytes +=
        held[static_cast<std::size_t>(tensor - model.part.tensors.data())].bytes.real().value();
  return bytes;
}

TEST(Mix, FilesOfModelsWithStateAndLatentCacheAreAsPublished) {
  // Source: github:ggml-org/Llama-macOS pull 63 (unsloth, ggml-org). The header with its vocabulary
  // takes about 11 MB.
  EXPECT_NEAR(file_bytes("Qwen/Qwen3.5-27B", "q8_0"), 28'595'763'104, 12e6);
  EXPECT_NEAR(file_bytes("Qwen/Qwen3.5-122B-A10B", "q8_0"), 129'871'935'040, 12e6);
  EXPECT_NEAR(file_bytes("Qwen/Qwen3.5-397B-A17B", "q8_0"), 421'507'365'376, 12e6);
  EXPECT_NEAR(file_bytes("zai-org/GLM-4.7-Flash", "q8_0"), 31'842'799'232, 12e6);
}

}  // namespace
}  // namespace headroom::model
