// If a batch exceeds an engine's KV cache pool, some of its sequences are queued. If no sequence of
// a batch can start, the batch does not fit.
#include "model/infer/placement/active_sequences.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/answer/explain.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/serving.hpp"
#include "model/infer/traffic.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// A stage of layers in each box stays where some sequences wait.
TEST(Admission, SequencesThatWaitLeaveTheDivisionAsItIs) {
  const test::OnCards on("moonshotai/Kimi-K2.6", "int4-32g-short-shape", "16x h100-sxm-80gb",
                         "vllm");
  Scenario s = on.s;
  s.context = 65536;
  s.batch = 64;
  const Estimate e = evaluate(s);
  ASSERT_TRUE(is_on_gpus(e));
  ASSERT_GT(e.queued, 0);
  const Scenario running = admitted_scenario(s);
  EXPECT_EQ(running.batch, s.batch - e.queued);
  const Plan plan = place(running, 1.0);
  EXPECT_TRUE(plan.feasible());
  EXPECT_EQ(plan.stages, 2);
  EXPECT_EQ(cards_used(plan), e.gpus_used);
  Bytes most;
  for (const DeviceUse& use : explain(s).devices)
    if (use.where == Where::card) most = std::max(most, use.total);
  EXPECT_EQ(most, e.gpu_bytes);
}

TEST(Admission, SequencesBeyondThePoolWait) {
  for (const char* engine : {"vllm", "sglang", "tensorrt-llm"}) {
    const test::OnCards on("meta-llama/Llama-3.1-8B", "bf16", "1x h100-sxm-80gb", engine);
    Scenario s = on.s;
    s.may_ask_for_fewer = false;  // fewer of vLLM's leave room for one more
    s.prompt_tokens = 1024;
    s.output_tokens = 256;
    s.batch = s.concurrency = 512;
    const Estimate e = evaluate(s);
    EXPECT_EQ(e.verdict, Verdict::fits_one_gpu) << engine;
    ASSERT_GT(e.queued, 0) << engine;
    const Size running = 512 - e.queued;
    EXPECT_EQ(e.kv_cache.count(), running * 1280 * 131072) << engine;
    EXPECT_GT(e.served.running, 0) << engine;
    EXPECT_EQ(explain(s).estimate.queued, e.queued);
    s.concurrency = 0;
    s.batch = running;
    const Estimate all = evaluate(s);
    EXPECT_EQ(all.queued, 0) << engine;
    EXPECT_EQ(all.tpot, e.tpot) << engine;
    EXPECT_EQ(all.gpu_bytes, e.gpu_bytes) << engine;
    s.batch = running + 1;
    EXPECT_EQ(evaluate(s).queued, 1) << engine;
    // A plan counts concurrent sequences only.
    EXPECT_EQ(shortfall(s, evaluate(s), {}).miss, Miss::memory) << engine;
  }
}

TEST(Admission, AStatedNumberOfSequencesRunsWhateverTheBatch) {
  test::OnCards on("meta-llama/Llama-3.1-8B", "bf16", "1x a100-sxm-80gb", "vllm");
  on.s.context = 32768;
  for (const Size stated : {1, 4}) {
    on.s.max_sequences = stated;
    for (const Size batch : {2 * stated, Size{100}}) {  // not all of a hundred have room
      on.s.batch = on.s.concurrency = batch;
      const Estimate e = evaluate(on.s);
      EXPECT_EQ(e.verdict, Verdict::fits_one_gpu) << stated << " of " << batch;
      EXPECT_EQ(batch - e.queued, stated) << "of " << batch;
      EXPECT_EQ(e.served.running, stated) << "of " << batch;
      EXPECT_EQ(traffic(on.s).running, stated) << "of " << batch;
    }
  }
}

TEST(Admission, DoesNotFitWithoutAPoolOrRoomForOneSequence) {
  test::OnCards on("meta-llama/Llama-3.1-8B", "bf16", "1x rtx-4090", "vllm");
  on.s.batch = 4;
  on.s.context = 131072;
  EXPECT_EQ(evaluate(on.s).verdict, Verdict::does_not_fit);
  EXPECT_EQ(evaluate(on.s).queued, 0);
  on.s.context = 0;
  on.s.batch = 4096;
  EXPECT_GT(evaluate(on.s).queued, 0);
  on.s.runtime = &engine("exllama");
  on.s.kv_precision = &precision("fp16");
  EXPECT_EQ(evaluate(on.s).verdict, Verdict::does_not_fit);
}

TEST(Admission, UsesAllCardsBeforeASequenceWaits) {
  test::OnCards on("meta-llama/Llama-3.1-8B", "bf16", "2x h100-sxm-80gb", "vllm");
  on.s.prompt_tokens = 1024;
  on.s.output_tokens = 256;
  on.s.batch = 512;
  EXPECT_EQ(evaluate(on.s).queued, 0);
  EXPECT_EQ(evaluate(on.s).gpus_used, 2);
  on.s.batch = 2048;
  EXPECT_GT(evaluate(on.s).queued, 0);
  EXPECT_EQ(evaluate(on.s).gpus_used, 2);
}

// The search starts from an approximation. It must find the maximum that fits.
TEST(Admission, OneMoreSequenceDoesNotFit) {
  test::OnCards on("openai/gpt-oss-20b", "bf16", "4x rtx-4090 @ epyc-rome-512gb", "vllm");
  std::set<Size> seen;
  for (const Size budget : {4, 6, 8, 13, 14, 16, 20, 24})
    for (const Size context : {600, 5000, 30000})
      for (const double factor : {0.9, 1.0, 1.1}) {
        on.s.gpu_budget = Bytes(budget << 30);
        on.s.context = context;
        on.s.batch = 60;
        const Uses uses(on.s);
        const Plan plan = place(uses, factor);
        const auto fewer = max_admitted(uses, plan, factor);
        Size most = 0;
        Scenario tried = on.s;
        tried.tensor_parallel = plan.shards;
        for (tried.batch = 1; tried.batch <= 60 && place(tried, factor).feasible(); ++tried.batch)
          most = tried.batch;
        EXPECT_EQ(fewer ? fewer->batch : most % 60, most % 60) << budget << ' ' << context;
        seen.insert(most);
      }
  EXPECT_GT(seen.size(), 5u);
}

// Longer requests, or a larger share of their lengths, never allow more concurrent requests.
TEST(Admission, LongerRequestsReduceConcurrency) {
  for (const char* engine : {"vllm", "sglang", "tensorrt-llm", "llama.cpp"}) {
    const test::OnCards on("meta-llama/Llama-3.1-8B", "bf16", "1x h100-sxm-80gb", engine);
    Scenario s = on.s;
    s.batch = 600;
    const auto running = [&](double prompt, double prompt_p95, double output, double output_p95) {
      return traffic(s, {prompt, prompt_p95}, {output, output_p95}).running;
    };
    Size before = 600;
    for (double p95 = 1024; p95 < 9000; p95 = p95 < 1040 ? p95 + 1 : 1.2 * p95) {
      const Size now = running(1024, p95, 256, 256);
      EXPECT_LE(now, before) << engine << " prompts to " << p95;
      before = now;
    }
    before = 600;
    for (double p95 = 256; p95 < 5000; p95 = p95 < 270 ? p95 + 1 : 1.2 * p95) {
      const Size now = running(1024, 1024, 256, p95);
      EXPECT_LE(now, before) << engine << " outputs to " << p95;
      before = now;
    }
    before = 600;
    for (double prompt = 1000; prompt < 1300; prompt += 7) {
      const Size now = running(prompt, 2 * prompt, 256, 256);
      EXPECT_LE(now, before) << engine << " prompts of " << prompt;
      before = now;
    }
  }
}

// vLLM allocates blocks as tokens arrive, so a sequence has 1024 + 256 / 2 cached tokens on
// average. An engine that reserves whole requests runs 1152 / 1280 as many.
TEST(Admission, ReservedTokensLimitConcurrency) {
  const test::OnCards on("meta-llama/Llama-3.1-8B", "bf16", "1x h100-sxm-80gb", "tensorrt-llm");
  const auto running = [&](Admission admission) {
    Engine engine = *on.s.runtime;
    engine.serving.admission = admission;
    Scenario s = on.s;
    s.runtime = &engine;
    s.batch = 4096;
    return static_cast<double>(traffic(s, {1024, 1024}, {256, 256}).running);
  };
  EXPECT_NEAR(running(Admission::whole) / running(Admission::as_needed), 1152.0 / 1280, 0.01);
}

}  // namespace
}  // namespace headroom::model
