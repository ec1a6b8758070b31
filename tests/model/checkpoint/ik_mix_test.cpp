// Mixes that only ik_llama.cpp makes, by hand from its src/llama-quantize.cpp, and the engines that
// read them.
#include "model/checkpoint/quantisation/ik_mix.hpp"

#include <gtest/gtest.h>

#include <string>

#include "model/checkpoint/quantisation/mix.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine.hpp"
#include "model/infer/estimate.hpp"
#include "tests/model/checkpoint/mix_question.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using enum TensorClass;

using test::ask;

TEST(IkMix, OutputsFollowTheFileType) {
  EXPECT_EQ(mixed_format("iq3_k", ask(output)), "q5_K");
  EXPECT_EQ(mixed_format("iq4_k", ask(output)), "q6_K");
  EXPECT_EQ(mixed_format("iq6_k", ask(output)), "iq6_k");
  EXPECT_EQ(mixed_format("iq4_k", ask(output, 0, 32, 896)), "q8_0");
  MixQuestion tied = ask(token_embedding);
  EXPECT_EQ(mixed_format("iq3_k", tied), "iq3_k");
  tied.tied = true;
  EXPECT_EQ(mixed_format("iq3_k", tied), "iq4_k");
  EXPECT_EQ(mixed_format("iq4_ks", tied), "iq5_k");
  EXPECT_EQ(mixed_format("iq4_k", tied), "q6_K");
}

TEST(IkMix, ValuesHaveMoreBitsWhereHeadsShareThem) {
  MixQuestion v = ask(attention_v);
  EXPECT_EQ(mixed_format("iq4_k", v), "iq4_k");
  EXPECT_EQ(mixed_format("iq2_k", v), "iq3_k");
  v.gqa = 2;
  EXPECT_EQ(mixed_format("iq4_k", v), "iq5_k");
  EXPECT_EQ(mixed_format("iq2_k", v), "iq4_k");
  EXPECT_EQ(mixed_format("iq3_kt", v), "iq3_k");
  v.gqa = 4;
  EXPECT_EQ(mixed_format("iq3_kt", v), "iq4_k");
  v.large_vocabulary = true;
  EXPECT_EQ(mixed_format("iq5_k", v), "iq6_k");
  v.seventy_b = true;
  EXPECT_EQ(mixed_format("iq5_k", v), "iq5_k");
  EXPECT_EQ(mixed_format("iq3_k", v), "iq5_k");
  v.experts = 128;
  EXPECT_EQ(mixed_format("iq3_k", v), "q8_0");
}

TEST(IkMix, MixturesHaveRulesOfTheirOwn) {
  MixQuestion k = ask(attention_k), out = ask(attention_output), up = ask(feed_forward_up, 0);
  k.experts = out.experts = up.experts = 128;
  EXPECT_EQ(mixed_format("iq4_k", k), "q8_0");
  EXPECT_EQ(mixed_format("iq2_ks", k), "q4_K");
  EXPECT_EQ(mixed_format("iq4_k", out), "q5_K");
  EXPECT_EQ(mixed_format("iq2_kl", out), "iq4_ks");
  EXPECT_EQ(mixed_format("iq4_kt", out), "iq4_kt");
  EXPECT_EQ(mixed_format("iq1_s_r4", up), "iq3_k");
  up.index = 1;
  EXPECT_EQ(mixed_format("iq1_s_r4", up), "iq1_s_r4");
  up.shared_expert = true;
  EXPECT_EQ(mixed_format("iq1_s_r4", up), "iq4_k");
}

TEST(IkMix, ImportanceMattersInTheFirstEighth) {
  MixQuestion down = ask(feed_forward_down, 1);
  EXPECT_EQ(mixed_format("iq4_ks", down), "q5_K");
  EXPECT_EQ(mixed_format("iq3_kt", down), "iq4_k");
  down.importance = true;
  EXPECT_EQ(mixed_format("iq4_ks", down), "iq4_ks");
  EXPECT_EQ(mixed_format("iq3_kt", down), "iq3_kt");
}

TEST(IkMix, RowsThatNoBlockDividesFallBack) {
  EXPECT_EQ(mixed_format("iq4_k", ask(attention_q, 9, 24, 896)), "q5_0");
  EXPECT_EQ(mixed_format("iq5_k", ask(attention_q, 9, 24, 896)), "q6_0");
  EXPECT_EQ(mixed_format("iq6_k", ask(attention_q, 9, 24, 896)), "q8_0");
  EXPECT_EQ(mixed_format("iq2_kl", ask(attention_q, 9, 24, 896)), "iq4_nl");
  EXPECT_EQ(mixed_format("q5_K_R4", ask(attention_q, 9, 24, 896)), "q6_0");
}

TEST(IkMix, EveryMixIsASchemeAndHasFormats) {
  for (const IkMix& mix : ik_mixes()) {
    EXPECT_EQ(scheme(mix.name).family, SchemeFamily::gguf_ik) << mix.name;
    EXPECT_NO_THROW(mixed_format(mix.name, ask(feed_forward_up))) << mix.name;
  }
  for (const Mix::Rule& rule : ik_mix_rules())
    for (const std::string_view mix : rule.mixes) EXPECT_NE(ik_mix(mix), nullptr) << mix;
}

TEST(IkMix, OnlyIkLlamaCppReadsThem) {
  for (const char* name : {"ik_llama.cpp", "ik_llama.cpp-graph", "ik_llama.cpp-blas"})
    EXPECT_TRUE(engine(name).weights.holds(SchemeFamily::gguf_ik)) << name;
  for (const char* name : {"llama.cpp", "ollama", "vllm", "kt-kernel"})
    EXPECT_FALSE(engine(name).weights.holds(SchemeFamily::gguf_ik)) << name;
}

TEST(IkMix, ItsCacheHasOneFormatMore) {
  EXPECT_NE(engine("ik_llama.cpp").cache.format(precision("q6_0")), nullptr);
  EXPECT_EQ(engine("llama.cpp").cache.format(precision("q6_0")), nullptr);
  EXPECT_NE(engine("ik_llama.cpp").cache.format(precision("q8_0")), nullptr);
}

TEST(IkMix, ScalesOfRowsCount) {
  // A matrix in "iq4_ks" has 4 bytes for each row, which the blocks of others do not have.
  const Model& model = test::catalogue_model("meta-llama/Llama-2-7b-hf");
  const auto tensors = quantised_tensors(model, scheme("iq4_ks-imatrix"));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = model.part.tensors[i];
    if (!tensor.name.ends_with("gate_proj.weight")) continue;
    EXPECT_EQ(tensors[i].bytes.count(), 11008 * (4 + 4096 / 256 * 136));
  }
}

}  // namespace
}  // namespace headroom::model
