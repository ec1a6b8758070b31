// Limits that an engine is started with: sequences at once, tokens of a pass, its share of a card.
#include <gtest/gtest.h>

#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/start_pass.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/placement/asked_sequences.hpp"
#include "model/infer/placement/cache_room.hpp"
#include "model/infer/placement/outside_share.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using test::OnCards;

Bytes work(const Scenario& s) { return card_use(s, place(s, 1.0), 0).activations; }

TEST(EngineLimits, FewerSequencesMakeThePassAtStartSmaller) {
  OnCards run("meta-llama/Llama-3.1-8B", "bf16", "h100-sxm-80gb", "vllm");
  run.s.context = 8192;
  const Bytes usual = work(run.s);
  EXPECT_EQ(start_sequences(run.s), 1024);
  run.s.max_sequences = 64;
  EXPECT_EQ(start_sequences(run.s), 64);
  EXPECT_LT(work(run.s), usual);
}

/// 1, 2, 4, by 8 to 256, by 16 to 512: 51 sizes of parts up to twice the sequences, and those of
/// whole passes up to the sequences. The first four pairs are as vLLM logs them
/// (hardware/catalogue/vllm_graphs.csv).
TEST(EngineLimits, GraphsAreCapturedUpToTwiceTheSequences) {
  OnCards run("meta-llama/Llama-3.1-8B", "bf16", "h100-sxm-80gb", "vllm");
  const Bytes all = workspace(run.s, 0);
  for (const auto& [sequences, sizes] : {std::pair<Size, Size>{8, 5 + 4},
                                         {20, 8 + 5},
                                         {128, 35 + 19},
                                         {256, 51 + 35},
                                         {1, 2 + 1},
                                         {1024, 51 + 51}}) {
    run.s.max_sequences = sequences;
    EXPECT_EQ(captured_graphs(run.s), sizes) << sequences;
  }
  EXPECT_EQ(workspace(run.s, 0), all);
  run.s.max_sequences = 1;
  EXPECT_LT(workspace(run.s, 0), all);
}

TEST(EngineLimits, SequencesBeyondTheLimitWait) {
  OnCards run("meta-llama/Llama-3.1-8B", "bf16", "h100-sxm-80gb", "vllm");
  run.s.batch = 64;
  EXPECT_EQ(evaluate(run.s).queued, 0);
  run.s.max_sequences = 16;
  const Estimate limited = evaluate(run.s);
  EXPECT_EQ(limited.queued, 48);
  run.s.batch = 16;
  EXPECT_EQ(limited.tpot.value(), evaluate(run.s).tpot.value());
}

TEST(EngineLimits, TokensOfAPassAreThoseAskedFor) {
  for (const char* engine : {"vllm", "sglang", "llama.cpp"}) {
    OnCards run("meta-llama/Llama-3.1-8B", "bf16", "h100-sxm-80gb", engine);
    run.s.prompt_tokens = 32768;
    const Bytes usual = work(run.s);
    run.s.chunk_tokens = 4 * prefill_chunk(run.s);
    EXPECT_GT(work(run.s), usual) << engine;
    run.s.chunk_tokens = 128;
    EXPECT_EQ(prefill_chunk(run.s), 128) << engine;
  }
}

/// vLLM 0.20 refused 1,024 sequences of a Qwen3.6-27B in FP8 on one H100 with 856 blocks of states,
/// and took 512 (fit-0950, fit-0951 of tests/accuracy).
TEST(EngineLimits, EachSequenceNeedsABlockOfStates) {
  OnCards run("Qwen/Qwen3.6-27B", "fp8", "h100-sxm-80gb", "vllm-0.25");
  run.s.context = 262144;
  run.s.gpu_share = 0.95;
  EXPECT_EQ(sequences_to_ask_for(run.s), 512);
  run.s.max_sequences = 1024;
  const Plan all = place(run.s, 1.0);
  EXPECT_EQ(all.reason, Reason::gpu_memory);
  const auto room = cache_room(run.s, all);
  ASSERT_TRUE(room);
  EXPECT_LT(room->blocks, 1024);
  EXPECT_GT(room->blocks, 750);
  run.s.max_sequences = 512;
  EXPECT_TRUE(place(run.s, 1.0).feasible());
  // Without graphs nothing is refused, and before 0.20 only the graphs were fewer.
  run.s.max_sequences = 1024;
  run.s.enforce_eager = true;
  EXPECT_TRUE(place(run.s, 1.0).feasible());
  run.s.enforce_eager = false;
  run.s.runtime = &engine("vllm-0.19");
  EXPECT_TRUE(place(run.s, 1.0).feasible());
}

TEST(EngineLimits, AModelWithoutStatesStartsWithTheUsualSequences) {
  OnCards run("meta-llama/Llama-3.1-8B", "bf16", "rtx-4090", "vllm");
  EXPECT_EQ(sequences_to_ask_for(run.s), 0);
  run.s.batch = 300;
  run.s.context = 128;  // room for all
  EXPECT_EQ(sequences_to_ask_for(run.s), 300);
}

/// Two R9700 did not always start with 0.98 of each, one did (fit-1001 to fit-1024).
TEST(EngineLimits, ALargeShareLeavesTooLittleBesideIt) {
  OnCards run("meta-llama/Llama-3.1-8B", "bf16", "2x ai-pro-r9700", "vllm-0.13");
  run.s.tensor_parallel = 2;
  for (const auto& [share, sure, starts] : {std::tuple{0.9, Confidence::yes, true},
                                            {0.98, Confidence::marginal, true},
                                            {0.995, Confidence::marginal, false}}) {
    run.s.gpu_share = share;
    const Estimate e = evaluate(run.s);
    EXPECT_EQ(fits(e.verdict), starts) << share;
    EXPECT_EQ(e.sure, sure) << share;
  }
  EXPECT_EQ(share_that_starts(run.s, place(run.s, 1.0)), 0.96);
  // Graphs may lie where the pass at start had its activations. Without graphs nothing may.
  run.s.enforce_eager = true;
  EXPECT_EQ(evaluate(run.s).sure, Confidence::no);
  run.s.enforce_eager = false;
  run.s.gpu_share = 0.9;
  EXPECT_EQ(share_that_starts(run.s, place(run.s, 1.0)), 0);
}

/// A budget in bytes holds all of the process, so any budget starts.
TEST(EngineLimits, AWholeCardAsABudgetStarts) {
  OnCards run("meta-llama/Llama-3.1-8B", "bf16", "rtx-4090", "vllm");
  run.s.gpu_budget = usable_memory(run.box.devices.front());
  EXPECT_EQ(evaluate(run.s).sure, Confidence::yes);
  EXPECT_LT(card_budget(run.s, 0), run.s.gpu_budget);
}

/// The host holds a part of a GB10's memory: 0.92 of it may not be free (fit-0997, fit-1420). The
/// engine's usual share is less there.
TEST(EngineLimits, AHostHoldsPartOfUnifiedMemory) {
  OnCards run("meta-llama/Llama-3.1-8B", "bf16", "gb10", "vllm");
  EXPECT_EQ(evaluate(run.s).sure, Confidence::yes);
  const double share = card_budget(run.s, 0).real() / usable_memory(run.box.devices.front()).real();
  EXPECT_GT(share, 0.75);
  EXPECT_LT(share, 0.87);
  run.s.gpu_share = 0.92;
  EXPECT_EQ(evaluate(run.s).sure, Confidence::marginal);
  EXPECT_NEAR(share_that_starts(run.s, place(run.s, 1.0)), share, 0.01);
}

/// llama.cpp maps weights beyond the memory, and the system reads them again and again.
TEST(EngineLimits, MappedWeightsBeyondTheMemoryAreNeverSure) {
  OnCards run("meta-llama/Llama-2-70b-hf", "q4_0", "rtx-4090", "llama.cpp");
  run.box.devices.clear();
  run.box.host.ram = Bytes(Size{32} << 30);
  const Estimate e = evaluate(run.s);
  EXPECT_EQ(e.verdict, Verdict::fits_disk_offload);
  EXPECT_EQ(e.sure, Confidence::marginal);
}

}  // namespace
}  // namespace headroom::model
