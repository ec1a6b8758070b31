// The rules of llama.cpp's quantisation mixes, tested on answers from its load logs and its
// fallback warnings. Models that llama.cpp does not have are tested too.
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>

#include "model/checkpoint/quantisation/gguf.hpp"
#include "model/checkpoint/quantisation/mix.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/describe/tensor_class.hpp"
#include "tests/model/checkpoint/mix_question.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using enum TensorClass;

using test::ask;

TEST(Mix, SomeHaveTheEmbeddingAndTheOutputInEightBits) {
  for (const auto& [wide, usual] : {std::pair{"q6_K_L", "q6_K"},
                                    {"q5_K_L", "q5_K_M"},
                                    {"q4_K_L", "q4_K_M"},
                                    {"q3_K_XL", "q3_K_L"},
                                    {"q2_K_L", "q2_K"}}) {
    EXPECT_EQ(mixed_format(wide, ask(output, 0, 1)), "q8_0") << wide;
    EXPECT_EQ(mixed_format(wide, ask(token_embedding, 0, 1)), "q8_0") << wide;
    EXPECT_NE(mixed_format(usual, ask(token_embedding, 0, 1)), "q8_0") << usual;
    for (Size i = 0; i < 32; ++i)
      for (const TensorClass each : {feed_forward_down, attention_v, attention_q})
        EXPECT_EQ(mixed_format(wide, ask(each, i, 32)), mixed_format(usual, ask(each, i, 32)))
            << wide << ' ' << i;
  }
}

/// Sizes that pages of converted models state: bartowski/Meta-Llama-3.1-8B-Instruct-GGUF in GB with
/// 8 MB of metadata, NeuroSenko/Qwen3.5-397B-A17B-exl3 in GiB.
TEST(Mix, PublishedSizes) {
  const auto bytes = [](const char* model, const char* name) {
    return real_count(quantise(test::catalogue_model(model), scheme(name)).total);
  };
  for (const auto& [name, gb] : {std::pair{"q6_K_L", 6.85},
                                 {"q5_K_L", 6.06},
                                 {"q4_K_L", 5.31},
                                 {"q3_K_XL", 4.78},
                                 {"q2_K_L", 3.69}})
    EXPECT_NEAR(bytes("meta-llama/Llama-3.1-8B", name) / 1e9 + 0.008, gb, 0.0055) << name;
  for (const auto& [name, gib] :
       {std::pair{"exl3-3bpw", 142}, {"exl3-4bpw", 188}, {"exl3-5bpw", 234}})
    EXPECT_NEAR(bytes("Qwen/Qwen3.5-397B-A17B", name) / (1 << 30), gib, 0.5) << name;
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

TEST(Mix, RefusalsSayWhetherLlamaCppConvertsTheClass) {
  Model model;
  model.model_type = "opt";
  model.architecture = "OPTForCausalLM";
  EXPECT_NE(refusal(model, scheme("q8_0")).find("not known to convert"), std::string::npos);
  model.model_type = "rwkv7";
  model.architecture = "RWKV7ForCausalLM";
  EXPECT_NE(refusal(model, scheme("q8_0")).find("llama.cpp converts 'rwkv7'"), std::string::npos);
  // A class counts whatever model type its configs have.
  model.model_type = "git";
  model.architecture = "Grok1ForCausalLM";
  EXPECT_TRUE(refusal(model, scheme("q8_0")).empty());
  model.architecture = "GitForCausalLM";
  EXPECT_FALSE(refusal(model, scheme("q8_0")).empty());
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

TEST(Mix, ExpertsInMxfp4StayUnlessTheRecipeIsSmaller) {
  // Source: an audit of unsloth/gpt-oss-20b-GGUF@d449b42 Q4_K_M: 72 of 459 tensors are MXFP4 (the
  // experts of 24 layers), 61 Q5_0 and 13 Q8_0. Rows of 2880 are no multiple of 256.
  const Model& model = test::catalogue_model("openai/gpt-oss-20b");
  const auto formats = [&](const Model& of, const char* mix) {
    std::map<std::string, int> count;
    for (const QuantisedTensor& t : quantised_tensors(of, scheme(mix)))
      if (t.format != nullptr) ++count[std::string(t.format->name)];
    return count;
  };
  const auto q4 = formats(model, "q4_K_M");
  // Gate and up are one tensor of the description.
  EXPECT_EQ(q4.at("mxfp4"), 48);
  EXPECT_EQ(q4.at("q5_0"), 61);
  EXPECT_EQ(q4.at("q8_0"), 13);
  EXPECT_EQ(q4.at("q4_K"), 24);
  EXPECT_EQ(formats(model, "q2_K").at("mxfp4"), 48);
  // Rows that 256 divides become smaller: 2.6 or 3.4 bits instead of 4.25.
  const Model& divided = test::catalogue_model("deepseek-ai/DeepSeek-V4-Flash");
  EXPECT_EQ(formats(divided, "q4_K_M").at("mxfp4"), 86);
  EXPECT_EQ(formats(divided, "q2_K").count("mxfp4"), 0u);
}

TEST(Mix, TheConverterSplitsSomeFusedMatrices) {
  // One matrix of 4608 rows: 4096 of queries, 256 each of keys and values (GLM-4: kept whole). In
  // Ling's first models it becomes three, of which q4_K_M gives the values more bits in half of the
  // layers.
  const auto of_attention = [](const char* name) {
    const Model& model = test::catalogue_model(name);
    const auto stored = quantised_tensors(model, scheme("q4_K_M"));
    std::map<Size, int> sizes;
    for (std::size_t i = 0; i < stored.size(); ++i)
      if (tensor_class(model.part.tensors[i].name) == attention_qkv)
        ++sizes[stored[i].bytes.count()];
    return sizes;
  };
  const Size glm = 4608 * 4096;
  EXPECT_EQ(of_attention("THUDM/glm-4-9b-chat"), (std::map<Size, int>{{glm / 256 * 176, 40}}));
  const Size row = 2048 / 256, q_and_k = (2048 + 512) * row * 144;
  EXPECT_EQ(
      of_attention("inclusionAI/Ling-lite"),
      (std::map<Size, int>{{q_and_k + 512 * row * 144, 14}, {q_and_k + 512 * row * 210, 14}}));
}

TEST(Mix, EncoderAndDecoderAreInOneFile) {
  // Source: the converter's file of bigscience/T0pp has both stacks, the shared embedding and the
  // head. The four matrices of an attention are q8_0 as all others are; positions stay in 16 bit.
  const Model& model = test::catalogue_model("google/flan-t5-small");
  const Size width = 512, inner = 1024, heads = 6 * 64, vocabulary = 32128;
  const Size attention = 4 * width * heads, feed_forward = 3 * width * inner;
  const Size matrices = 8 * (attention + feed_forward) + 8 * (2 * attention + feed_forward);
  const Size quantised = (matrices + 2 * vocabulary * width) / 32 * 34;
  const Size norms = (8 * 2 + 8 * 3 + 2) * width * 4, positions = 2 * 32 * 6 * 2;
  EXPECT_EQ(file_bytes("google/flan-t5-small", "q8_0"), quantised + norms + positions);
  EXPECT_EQ(language_tensors(model).size(), model.part.tensors.size());
}

}  // namespace
}  // namespace headroom::model
