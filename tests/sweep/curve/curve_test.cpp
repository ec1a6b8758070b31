// The report of `headroom curve`: recommendations and their reasons.
#include "sweep/curve/curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/infer/intervals.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::sweep {
namespace {

using headroom::test::catalogue_model;
using headroom::test::machine;
using headroom::test::scenario;

struct ModelRow {
  ModelRow(const char* name, const char* held, const char* runtime, Size card_gib, Size ram_gib,
           Size prompt = 512, Size output = 128)
      : weights(model::quantise(catalogue_model(name), model::scheme(held))),
        on(machine(1, card_gib, ram_gib)),
        s(scenario(weights, on, runtime)) {
    s.prompt_tokens = prompt;
    s.output_tokens = output;
  }
  CurveLine line() const { return curve_line(s, "line", std::nullopt); }
  model::QuantisedModel weights;
  Machine on;
  model::Scenario s;
};

double total_at(const CurveLine& line, std::size_t i) {
  return line.points[i].estimate.total.value();
}

TEST(Curve, RecommendsTheLeastWithinFivePercentOfTheQuickestAnswer) {
  for (const ModelRow& given :
       {ModelRow("meta-llama/Llama-2-7b-hf", "fp16", "transformers", 24, 64),
        ModelRow("Qwen/Qwen2.5-32B", "q8_0", "llama.cpp", 24, 64)}) {
    const CurveLine line = given.line();
    ASSERT_TRUE(line.recommended);
    double quickest = 1e300;
    const auto within = [&](std::size_t i) {
      return line.points[i].estimate.gpu_bytes_high <= usable_memory(given.on.devices[0]);
    };
    for (std::size_t i = 0; i < line.points.size(); ++i)
      if (within(i)) quickest = std::min(quickest, total_at(line, i));
    EXPECT_LE(0.95 * total_at(line, *line.recommended), quickest);
    EXPECT_TRUE(within(*line.recommended));
    for (std::size_t i = 0; i < *line.recommended; ++i)
      EXPECT_GT(0.95 * total_at(line, i), quickest) << i;
  }
}

TEST(Curve, EachOfUnlikeCardsIsJudgedByItsOwnMemory) {
  // 15.2 GiB on a card of 24 stay there, although the card of 12 next to it holds less.
  ModelRow row("Qwen/Qwen3.8-27B", "q6_K", "llama.cpp", 24, 64);
  row.on = parse_machine("1x rtx-3090 + 1x rtx-3060-12gb", shipped_catalogue());
  const CurveLine line = row.line();
  ASSERT_TRUE(line.recommended);
  EXPECT_EQ(line.points[*line.recommended].estimate.verdict, model::Verdict::fits_gpus);
  EXPECT_EQ(line.reason.find("may run out of memory"), std::string::npos) << line.reason;
}

TEST(Curve, ATightCardIsRecommendedBeforeAFarSlowerCpu) {
  ModelRow row("meta-llama/Llama-2-13b-hf", "nf4", "transformers", 9, 64);
  row.s.context = 960;
  const CurveLine line = row.line();
  ASSERT_TRUE(line.recommended);
  const model::AllocationPoint& p = line.points[*line.recommended];
  EXPECT_GT(p.plan.cards, 0);
  EXPECT_GT(p.estimate.gpu_bytes_high, usable_memory(line.scenario.machine->devices[0]));
  EXPECT_GT(total_at(line, 0), 2 * total_at(line, *line.recommended));
  EXPECT_NE(line.reason.find("times as fast as any that surely fits"), std::string::npos)
      << line.reason;
}

TEST(Curve, AnEngineThatSetsMemoryAsideGetsAllOfACardWhereNoneSurelyFits) {
  ModelRow row("Zyphra/ZAYA1-8B", "awq-int4", "vllm", 8, 32);
  row.s.context = 16384;
  const CurveLine line = row.line();
  ASSERT_TRUE(line.recommended);
  EXPECT_EQ(*line.recommended, line.points.size() - 1) << line.reason;
  EXPECT_NE(line.reason.find("the most that there is"), std::string::npos) << line.reason;
}

TEST(Curve, ALongPromptIsWorthAGpuThatDecodesNoFaster) {
  // Weights streamed to the card are slower than the CPU for each token, but faster for a prompt.
  const ModelRow talk("openai/gpt-oss-120b", "bf16", "transformers", 24, 512, 16, 512);
  const ModelRow summary("openai/gpt-oss-120b", "bf16", "transformers", 24, 512, 32768, 2);
  EXPECT_EQ(talk.line().recommended, 0u);
  EXPECT_GT(*summary.line().recommended, 0u);
}

TEST(Curve, WeightsThatNoCpuRunsNeedACard) {
  const CurveLine line =
      ModelRow("openai/gpt-oss-120b", "mxfp4", "transformers", 24, 128, 16, 512).line();
  EXPECT_FALSE(model::runs(line.points[0])) << "transformers unpacks them where there is no card";
  ASSERT_TRUE(line.recommended);
  EXPECT_GT(line.points[*line.recommended].plan.cards, 0);
}

TEST(Curve, OneCardComesBeforeSeveralThatTakeMoreTogether) {
  ModelRow row("facebook/nllb-200-distilled-600M", "fp32", "transformers", 80, 512);
  row.on = machine(8, 80, 512);
  const CurveLine line = row.line();
  ASSERT_TRUE(line.recommended);
  EXPECT_EQ(line.points[*line.recommended].estimate.gpus_used, 1);
}

TEST(Curve, NothingIsRecommendedWhereNothingRuns) {
  const CurveLine line = ModelRow("openai/gpt-oss-120b", "mxfp4", "vllm", 24, 64).line();
  EXPECT_FALSE(line.recommended);
  EXPECT_FALSE(line.first);
  EXPECT_NE(line.reason.find("GPU memory is short"), std::string::npos);
}

TEST(Curve, LayersAndJumpsAreNamed) {
  const ModelRow row("meta-llama/Llama-2-7b-hf", "q4_K_M", "llama.cpp", 24, 64);
  const CurveLine line = row.line();
  const model::Profile& profile = line.scenario.weights->model->profile;
  EXPECT_EQ(layers_words(profile, line.points[0]), "cpu: 0-31");
  EXPECT_EQ(layers_words(profile, line.points[1]), "gpu 0: output; cpu: 0-31");
  EXPECT_EQ(layers_words(profile, line.points[2]), "gpu 0: 31; cpu: 0-30");
  EXPECT_EQ(jump_words(line, 1), "output layer");
  EXPECT_EQ(jump_words(line, 33), "last layer");
}

TEST(Curve, LessSpeedOfMoreMemoryIsNotSaidOfTheCpu) {
  // llama.cpp divides layers by free memory: with more of it, the larger card has too many.
  ModelRow row("Qwen/Qwen3.8-27B", "q6_K", "llama.cpp", 24, 64);
  row.on = parse_machine("1x rtx-3090 + 1x rtx-3060-12gb", shipped_catalogue());
  const CurveLine line = row.line();
  const auto slower = std::ranges::find_if(line.points, [](const model::AllocationPoint& p) {
    return std::ranges::find(p.jumps, model::Jump::slower) != p.jumps.end();
  });
  ASSERT_NE(slower, line.points.end());
  EXPECT_EQ(jump_words(line, static_cast<std::size_t>(slower - line.points.begin())),
            "slower than with less");
}

TEST(Curve, AnEncoderHasNone) {
  const model::QuantisedModel weights =
      model::quantise(catalogue_model("google-bert/bert-base-uncased"), model::scheme("fp32"));
  const Machine on = machine(1, 24, 64);
  EXPECT_THROW(curve_line(scenario(weights, on, "transformers"), "bert", std::nullopt),
               std::invalid_argument);
}

}  // namespace
}  // namespace headroom::sweep
