// The parts of a time that --explain shows add up to that time. Their bytes and FLOPs match hand
// calculations.
#include "model/answer/breakdown.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/draft.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using Case = test::OnCards;

/// The seconds of parts, bounds and spans match evaluate.
void expect_sums(const Scenario& s) {
  const Estimate e = evaluate(s);
  ASSERT_LT(e.verdict, Verdict::does_not_fit);
  const auto passes = breakdown(s);
  ASSERT_EQ(passes.size(), 2u);
  for (const auto& [pass, printed] : {std::pair{passes[0], e.ttft}, {passes[1], e.tpot}}) {
    double sum = 0, by_bound = 0;
    for (const PassPart& part : pass.parts) sum += part.seconds;
    for (const Bound bound : {Bound::memory, Bound::compute, Bound::link, Bound::overhead})
      by_bound += pass.of(bound);
    EXPECT_NEAR(sum, printed.value(), 1e-6 * printed.value()) << pass.name;
    Seconds spans;
    for (const Span& span : pass.spans) spans += span.seconds;
    EXPECT_NEAR(spans.value(), printed.value(), 1e-6 * printed.value()) << pass.name;
    EXPECT_NEAR(by_bound, printed.value(), 1e-6 * printed.value()) << pass.name;
    EXPECT_NEAR(pass.seconds, printed.value(), 1e-9 * printed.value()) << pass.name;
  }
}

TEST(Breakdown, PartsAddUpToThePrintedTimes) {
  for (const char* engine : {"transformers", "transformers-4.57", "llama.cpp", "vllm"}) {
    SCOPED_TRACE(engine);
    expect_sums(Case("meta-llama/Llama-2-7b-hf", "fp16", "1x rtx-4090", engine).s);
  }
  expect_sums(Case("facebook/opt-30b", "fp16", "1x rtx-4090", "transformers").s);
  Case streamed("facebook/opt-30b", "fp16", "1x rtx-4090", "flexgen");
  streamed.s.kv_precision = &precision("fp16");
  expect_sums(streamed.s);
  streamed.s.batch = 8;  // prompts hide copies, steps do not
  expect_sums(streamed.s);
  expect_sums(Case("deepseek-ai/DeepSeek-V3", "fp8-block", "8x h200-sxm-141gb", "vllm").s);
  expect_sums(Case("openai/gpt-oss-120b", "mxfp4", "1x rtx-4090", "llama.cpp").s);
  expect_sums(
      Case("meta-llama/Meta-Llama-3-70B", "q4_K_M", "8x rtx-4090 @ epyc-rome-512gb", "llama.cpp")
          .s);
}

TEST(Breakdown, PartsAddUpWhereChunksFollowEachOtherAndWithTensorsOnTheHost) {
  Case split("meta-llama/Meta-Llama-3-70B", "q4_K_M", "8x rtx-4090 @ epyc-rome-512gb", "llama.cpp");
  LayerSplit all;
  all.gpu_layers = std::ssize(split.weights.layer) + 1;
  split.s.layer_split = &all;
  split.s.prompt_tokens = 4096;
  expect_sums(split.s);

  all.mode = SplitMode::row;
  expect_sums(split.s);
  all.cache_on_cards = false;
  expect_sums(split.s);

  Case experts("openai/gpt-oss-20b", "mxfp4", "1x rtx-4090", "llama.cpp");
  LayerSplit apart;
  apart.gpu_layers = std::ssize(experts.weights.layer) + 1;
  apart.on_host = experts_on_host(experts.weights, 12);
  experts.s.layer_split = &apart;
  expect_sums(experts.s);
  apart.cache_on_cards = false;
  expect_sums(experts.s);
}

TEST(Breakdown, PartsAddUpWithTensorParallelAndExpertsOnHost) {
  Case c("openai/gpt-oss-20b", "mxfp4", "2x rtx-4090 @ epyc-rome-512gb", "kt-kernel");
  LayerSplit split;
  split.gpu_layers = std::ssize(c.weights.layer) + 1;
  split.on_host = experts_on_host(c.weights, split.gpu_layers);
  c.s.layer_split = &split;
  expect_sums(c.s);
}

TEST(Breakdown, PartsAddUpWithADraftModelAndReplicas) {
  Case large("meta-llama/Meta-Llama-3-70B", "bf16", "4x a100-sxm-80gb", "vllm");
  const QuantisedModel small =
      quantise(test::catalogue_model("meta-llama/Meta-Llama-3-8B"), scheme("bf16"));
  const Draft draft{.weights = &small, .tokens = 4, .acceptance = 0.7};
  large.s.draft = &draft;
  expect_sums(large.s);

  Case spread("Qwen/Qwen3-30B-A3B", "bf16", "4x a100-sxm-80gb", "vllm");
  spread.s.tensor_parallel = spread.s.data_parallel = 2;
  spread.s.expert_parallel = 4;
  spread.s.batch = 8;
  expect_sums(spread.s);
}

/// Llama-2-7B in 16 bit at batch 1. A step reads all parameters but the embedding once
/// (6,607,343,616 of 6,738,415,616). It also reads 2 * 32 layers * 4096 * 2 bytes for each cached
/// token.
TEST(Breakdown, BytesAndFlopsOfAStepAreThoseOfTheModel) {
  const Case c("meta-llama/Llama-2-7b-hf", "fp16", "1x rtx-4090", "llama.cpp");
  const auto passes = breakdown(c.s);
  double weights = 0, cache = 0, flops = 0;
  for (const PassPart& part : passes[1].parts) {
    weights += part.weight_bytes;
    cache += part.cache_bytes;
    flops += part.flops;
  }
  const Size halfway = c.s.prompt_tokens + (c.s.output_tokens + 1) / 2;
  const double tokens = real_count(halfway);
  EXPECT_NEAR(weights, 2.0 * 6607343616, 2e6);  // norms are separate
  EXPECT_DOUBLE_EQ(cache, 2.0 * 32 * 4096 * 2 * tokens);
  // Each multiplied element takes two FLOPs, each cached element of K takes four.
  EXPECT_NEAR(flops, 2.0 * 6607077376 + 4.0 * 32 * 4096 * tokens, 2e6);
}

TEST(Breakdown, KindsOfLayersAreGroupedAndSayWhatTheyWaitFor) {
  const auto passes =
      breakdown(Case("deepseek-ai/DeepSeek-V3", "fp8-block", "8x h200-sxm-141gb", "vllm").s);
  ASSERT_EQ(passes.size(), 2u);
  std::vector<std::string> names;
  for (const PassPart& part : passes[1].parts) names.push_back(part.what);
  ASSERT_GE(names.size(), 4u);
  EXPECT_EQ(names[0], "3 layers: 0-2");
  EXPECT_EQ(names[1], "58 layers: 3-60");
  EXPECT_EQ(names[2], "output");
  EXPECT_EQ(names[3], "all-reduces");
  EXPECT_GT(passes[1].parts[1].expert_bytes, 0);
  EXPECT_EQ(passes[1].parts[0].expert_bytes, 0);
  EXPECT_EQ(passes[1].parts[3].bound, Bound::link);

  // Compute bounds a long prompt. Memory bounds a token.
  Case dense("meta-llama/Llama-2-7b-hf", "fp16", "1x rtx-4090", "vllm");
  dense.s.prompt_tokens = 2048;
  const auto of_dense = breakdown(dense.s);
  EXPECT_EQ(of_dense[0].parts[0].bound, Bound::compute);
  EXPECT_EQ(of_dense[1].parts[0].bound, Bound::memory);
}

const Span& span(const PassBreakdown& pass, std::string_view name) {
  static const Span none{};
  const auto at = std::ranges::find(pass.spans, name, &Span::name);
  return at == pass.spans.end() ? none : *at;
}

/// FlexGen copies the next layer while it computes the current one. Therefore the copies of a
/// prompt are hidden.
TEST(Breakdown, CopiesBehindProductsAreHiddenSpans) {
  Case c("facebook/opt-30b", "fp16", "1x rtx-4090 @ epyc-rome-512gb", "flexgen");
  c.s.kv_precision = &precision("fp16");
  c.s.batch = 8;
  c.s.prompt_tokens = 1500;
  const auto passes = breakdown(c.s);
  ASSERT_FALSE(passes.empty());
  const Span copies = span(passes[0], "copy to the card");
  EXPECT_GT(copies.amount, 0);
  EXPECT_EQ(copies.seconds, Seconds());
  EXPECT_NEAR(copies.hidden.value(), copies.amount / copies.rate, 1e-9 * copies.hidden.value());
}

/// FlexGen unpacks int4 in every step: weights during matrix products, and caches between them.
TEST(Breakdown, UnpackingIsASpan) {
  Case c("facebook/opt-6.7b", "int4-64g", "1x l4-24gb", "flexgen");
  c.s.kv_precision = &precision("int4_g64");
  const auto passes = breakdown(c.s);
  ASSERT_EQ(passes.size(), 2u);
  const PassBreakdown& pass = passes[1];
  EXPECT_GT(span(pass, "unpack weights").seconds, span(pass, "read weights").seconds);
  EXPECT_GT(span(pass, "unpack KV cache").seconds, span(pass, "read KV cache").seconds);
}

/// 28 heads leave some of an A100's 216 places empty in the last round of blocks.
TEST(Breakdown, IdleMultiprocessorsAreASpan) {
  Case c("Qwen/Qwen2.5-7B", "bf16", "1x a100-sxm-80gb", "vllm-0.7");
  c.s.prompt_tokens = 16384;
  const auto pass = breakdown(c.s)[0];
  const Span idle = span(pass, "idle multiprocessors"),
             attention = span(pass, "attention of the prompt");
  EXPECT_GT(idle.seconds, Seconds());
  EXPECT_NEAR(idle.seconds / attention.seconds, idle.amount / attention.amount, 1e-9);
  c.box.devices.front().multiprocessors = 0;
  EXPECT_EQ(span(breakdown(c.s)[0], "idle multiprocessors").seconds, Seconds()) << "not known";
}

/// The products of a long prompt hide the reading of weights. In a decode step, reading hides the
/// products.
TEST(Breakdown, TheShorterSideOfARooflineIsHidden) {
  Case c("meta-llama/Llama-2-7b-hf", "fp16", "1x rtx-4090", "vllm");
  c.s.prompt_tokens = 2048;
  const auto passes = breakdown(c.s);
  EXPECT_EQ(span(passes[0], "read weights").seconds, Seconds());
  EXPECT_GT(span(passes[0], "read weights").hidden, Seconds());
  EXPECT_EQ(span(passes[1], "products").seconds, Seconds());
  EXPECT_GT(span(passes[1], "products").hidden, Seconds());
}

TEST(Breakdown, NothingWhereItDoesNotFit) {
  EXPECT_TRUE(
      breakdown(Case("deepseek-ai/DeepSeek-V3", "fp8-block", "1x rtx-4090", "vllm").s).empty());
}

}  // namespace
}  // namespace headroom::model
