// Mixes that only ik_llama.cpp makes, by hand from its src/llama-quantize.cpp, and the engines that
// read them.
#include "model/checkpoint/quantisation/ik_mix.hpp"

#include <gtest/gtest.h>

#include <string>

#include "model/checkpoint/quantisation/mix.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine.hpp"
#include "model/infer/estimate.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using enum TensorClass;

MixQuestion ik_question(TensorClass tensor_class, Size index = 10, Size layers = 32,
                        Size row = 4096) {
  MixQuestion q;
  q.tensor_class = tensor_class;
  q.index = index;
  q.of = layers;
  q.row = row;
  return q;
}

TEST(IkMix, OutputsFollowTheFileType) {
  EXPECT_EQ(mixed_format("iq3_k", ik_question(output)), "q5_K");
  EXPECT_EQ(mixed_format("iq4_k", ik_question(output)), "q6_K");
  EXPECT_EQ(mixed_format("iq6_k", ik_question(output)), "iq6_k");
  EXPECT_EQ(mixed_format("iq4_k", ik_question(output, 0, 32, 896)), "q8_0");
  MixQuestion tied = ik_question(token_embedding);
  EXPECT_EQ(mixed_format("iq3_k", tied), "iq3_k");
  tied.tied = true;
  EXPECT_EQ(mixed_format("iq3_k", tied), "iq4_k");
  EXPECT_EQ(mixed_format("iq4_ks", tied), "iq5_k");
  EXPECT_EQ(mixed_format("iq4_k", tied), "q6_K");
}

TEST(IkMix, ValuesHaveMoreBitsWhereHeadsShareThem) {
  MixQuestion v = ik_question(attention_v);
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
  MixQuestion k = ik_question(attention_k), out = ik_question(attention_output),
              up = ik_question(feed_forward_up, 0);
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
  MixQuestion down = ik_question(feed_forward_down, 1);
  EXPECT_EQ(mixed_format("iq4_ks", down), "q5_K");
  EXPECT_EQ(mixed_format("iq3_kt", down), "iq4_k");
  down.importance = true;
  EXPECT_EQ(mixed_format("iq4_ks", down), "iq4_ks");
  EXPECT_EQ(mixed_format("iq3_kt", down), "iq3_kt");
}

TEST(IkMix, RowsThatNoBlockDividesFallBack) {
  EXPECT_EQ(mixed_format("iq4_k", ik_question(attention_q, 9, 24, 896)), "q5_0");
  EXPECT_EQ(mixed_format("iq5_k", ik_question(attention_q, 9, 24, 896)), "q6_0");
  EXPECT_EQ(mixed_format("iq6_k", ik_question(attention_q, 9, 24, 896)), "q8_0");
  EXPECT_EQ(mixed_format("iq2_kl", ik_question(attention_q, 9, 24, 896)), "iq4_nl");
  EXPECT_EQ(mixed_format("q5_K_R4", ik_question(attention_q, 9, 24, 896)), "q6_0");
}

TEST(IkMix, EveryMixIsASchemeAndHasFormats) {
  for (const IkMix& mix : ik_mixes()) {
    EXPECT_EQ(scheme(mix.name).family, SchemeFamily::gguf_ik) << mix.name;
    EXPECT_NO_THROW(mixed_format(mix.name, ik_question(feed_forward_up))) << mix.name;
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
