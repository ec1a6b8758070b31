// The number of sequences at once that an engine is asked for where its usual number does not fit.
#include "model/infer/placement/asked_sequences.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "model/answer/explain.hpp"
#include "model/infer/evaluator.hpp"
#include "model/infer/memory/start_pass.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/traffic.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using test::OnCards;

/// A 32B in 4 bit takes 18 of 24 GiB, and graphs for 256 sequences too much of the rest.
struct OnSmallCard : OnCards {
  OnSmallCard() : OnCards("Qwen/Qwen3-32B", "awq-int4", "rtx-4090", "vllm") { s.context = 8192; }
};

Scenario without_hints(Scenario s) {
  s.may_ask_for_fewer = false;
  return s;
}

TEST(AskedSequences, FewerFitWhereTheUsualNumberDoesNot) {
  const OnSmallCard run;
  EXPECT_EQ(evaluate(without_hints(run.s)).verdict, Verdict::does_not_fit);
  const Estimate e = evaluate(run.s);
  EXPECT_EQ(e.verdict, Verdict::fits_one_gpu);
  EXPECT_EQ(explain(run.s).estimate, e);
  const Size asked = sequences_to_ask_for(run.s);
  EXPECT_TRUE(std::has_single_bit(static_cast<std::uint64_t>(asked)));
  Scenario stated = run.s;
  stated.max_sequences = asked;
  EXPECT_EQ(evaluate(stated), e);
  // The next power of two does not fit as surely.
  stated.max_sequences = 2 * asked;
  const Estimate more = evaluate(stated);
  EXPECT_FALSE(fits(more) && more.sure == e.sure);
  const auto why = fewer_sequences(run.s);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->asked, asked);
  EXPECT_EQ(why->usual, usual_sequences(run.s));
  EXPECT_EQ(why->usual_admits, 0);
  EXPECT_GE(why->freed, evaluate(without_hints(run.s)).short_bytes);
}

TEST(AskedSequences, AStatedNumberIsKept) {
  OnSmallCard run;
  run.s.max_sequences = 256;
  EXPECT_EQ(evaluate(run.s).verdict, Verdict::does_not_fit);
  EXPECT_EQ(sequences_to_ask_for(run.s), 256);
  EXPECT_FALSE(fewer_sequences(run.s));
  run.s.max_sequences = 1;
  EXPECT_EQ(sequences_to_ask_for(run.s), 1);
}

TEST(AskedSequences, WeightsBeyondACardStillDoNotFit) {
  OnCards run("meta-llama/Llama-3.3-70B-Instruct", "awq-int4", "rtx-4090", "vllm");
  for (const Size batch : {1, 40}) {
    run.s.batch = batch;
    EXPECT_EQ(evaluate(run.s).verdict, Verdict::does_not_fit);
    EXPECT_EQ(evaluate(run.s).sure, Confidence::no);
    // No number is short of less than the batch's own.
    EXPECT_EQ(sequences_to_ask_for(run.s), batch);
    Scenario stated = run.s;
    stated.max_sequences = batch;
    EXPECT_EQ(evaluate(run.s).short_bytes, evaluate(stated).short_bytes);
    EXPECT_LT(evaluate(run.s).short_bytes, evaluate(without_hints(run.s)).short_bytes);
  }
}

TEST(AskedSequences, ATokenTooManyIsShortOfLittle) {
  // The usual 256 sequences would be short of a block of states for each.
  OnCards run("Qwen/Qwen3.6-27B", "awq-int4", "rtx-4090", "vllm");
  const auto at = [&](Size context) {
    run.s.context = context;
    return evaluate(run.s);
  };
  Size longest = 1024;
  for (Size step = 65536; step > 0; step /= 2)
    if (fits(at(longest + step).verdict)) longest += step;
  EXPECT_TRUE(fits(at(longest).verdict));
  EXPECT_FALSE(fits(at(longest + 1).verdict));
  EXPECT_LT(at(longest + 1).short_bytes, Bytes(Size{200} << 20));
}

TEST(AskedSequences, EnginesWithoutSuchANumberAreAskedForNone) {
  for (const char* engine : {"sglang", "transformers"}) {
    OnCards run("Qwen/Qwen3-32B", "awq-int4", "rtx-4090", engine);
    EXPECT_EQ(sequences_to_ask_for(run.s), 0) << engine;
    EXPECT_EQ(evaluate(run.s), evaluate(without_hints(run.s))) << engine;
  }
}

TEST(AskedSequences, NoneWaitsIfFewerLeaveRoomForAll) {
  OnSmallCard run;
  run.s.context = 1024;
  for (run.s.batch = 1; run.s.batch <= 64; ++run.s.batch) {
    const Size asked = sequences_to_ask_for(run.s);
    if (asked == 0) continue;
    Scenario all = run.s;
    all.max_sequences = run.s.batch;
    if (evaluate(all).queued > 0) continue;
    EXPECT_GE(asked, run.s.batch);
    EXPECT_EQ(evaluate(run.s).queued, 0) << run.s.batch;
    EXPECT_GT(traffic(run.s).running, 0);
  }
}

/// Requests that come at once wait for each other, and most run where fewer sequences are asked
/// for.
TEST(AskedSequences, ABatchBeyondTheRoomWaits) {
  OnSmallCard run;
  run.s.gpu_budget = Bytes(Size{20} << 30);
  run.s.context = 2048;
  run.s.batch = 64;
  EXPECT_EQ(evaluate(without_hints(run.s)).verdict, Verdict::does_not_fit);
  const Estimate e = evaluate(run.s);
  ASSERT_EQ(e.verdict, Verdict::fits_one_gpu);
  const Size running = run.s.batch - e.queued, asked = sequences_to_ask_for(run.s);
  EXPECT_LT(running, run.s.batch);
  EXPECT_EQ(admitted_scenario(run.s).batch, running);
  EXPECT_EQ(admitted_scenario(run.s).max_sequences, asked);
  for (Size number = 1; number < 256; number *= 2) {
    Scenario stated = run.s;
    stated.max_sequences = number;
    const Estimate other = evaluate(stated);
    const bool as_sure = fits(other) && other.sure == e.sure;
    EXPECT_TRUE(!as_sure || 64 - other.queued <= running) << number;
  }
}

/// MiB by MiB: the verdict and how sure it is never get worse.
TEST(AskedSequences, MoreMemoryIsNeverWorse) {
  for (const char* name : {"Qwen/Qwen3-32B", "Qwen/Qwen3-8B"})
    for (const Size batch : {1, 12}) {
      OnCards run(name, "awq-int4", "rtx-5090", "vllm");
      run.s.batch = batch;
      run.s.context = 1024;
      Evaluator evaluate_next;
      int best = 0;
      for (Size mib = 4 * 1024; mib < 31 * 1024; mib += 16) {
        run.s.gpu_budget = mib * mebibyte;
        const Estimate e = evaluate_next(run.s);
        const bool surely = e.sure == Confidence::yes;
        const int rank = !fits(e) ? 0 : e.queued > 0 ? 1 : surely ? 3 : 2;
        ASSERT_GE(rank, best) << name << ' ' << batch << ' ' << mib;
        best = rank;
      }
      EXPECT_EQ(best, 3);
    }
}

/// The pass at start grows with the number of sequences, which must not cost sequences.
TEST(AskedSequences, MoreMemoryNeverAdmitsFewer) {
  OnCards run("meta-llama/Llama-3.3-70B-Instruct", "fp8", "h200-sxm-141gb", "vllm");
  run.s.batch = 64;
  Evaluator evaluate_next;
  Size most = 0;
  for (Size mib = 68 * 1024; mib < 90 * 1024; mib += 64) {
    run.s.gpu_budget = mib * mebibyte;
    const Estimate e = evaluate_next(run.s);
    const Size running = fits(e) ? run.s.batch - e.queued : 0;
    ASSERT_GE(running, most) << mib;
    EXPECT_EQ(running, fits(e) ? admitted_scenario(run.s).batch : 0) << mib;
    most = running;
  }
  EXPECT_EQ(most, run.s.batch);
}

TEST(AskedSequences, MoreSequencesThanUsualAreNotCutDown) {
  OnSmallCard run;
  run.s.context = 256;
  run.s.batch = 300;
  const Estimate with = evaluate(run.s), without = evaluate(without_hints(run.s));
  EXPECT_TRUE(fits(with) || !fits(without));
}

/// The pool has 16 whole contexts at most, but requests of 640 tokens take little of theirs.
TEST(AskedSequences, NoNumberStopsRequestsThatAreShorterThanTheirContext) {
  const OnCards on("zai-org/GLM-5.2-FP8", "fp8-block", "8x h200-sxm-141gb", "vllm");
  Scenario s = on.s;
  s.context = 32768;
  s.batch = s.concurrency = 64;
  const Estimate e = evaluate(s);
  ASSERT_GT(e.queued, 0);
  EXPECT_EQ(e.served.running, 64);
  EXPECT_GE(sequences_to_ask_for(s), 64);
  Scenario usual = s;
  usual.max_sequences = usual_sequences(s);
  EXPECT_GE(e.served.output_tokens_s, 0.999 * evaluate(usual).served.output_tokens_s);
}

}  // namespace
}  // namespace headroom::model
