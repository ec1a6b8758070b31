// A card processes a prompt's attention in rounds of blocks, and a long prompt in chunks.
#include <gtest/gtest.h>

#include "model/infer/timeline/passes.hpp"
#include "model/infer/timeline/work.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

constexpr const char* qwen_7b = "Qwen/Qwen2.5-7B";  // 28 query heads, 4 KV heads

double reads(const char* engine, Size prompt, Size output) {
  test::OnCards c(qwen_7b, "bf16", "1x a100-sxm-80gb", engine);
  c.s.prompt_tokens = prompt;
  c.s.output_tokens = output;
  return prefill_pass(c.s, prompt).weight_reads;
}

TEST(PromptAttention, ContextsBeyond32768GoInChunksOf512InVllmOf2024) {
  EXPECT_EQ(reads("vllm-0.7", 30720, 2048), 1);
  EXPECT_EQ(reads("vllm-0.7", 30720, 2049), 60) << "the whole context decides";
  EXPECT_EQ(reads("vllm-0.5", 63488, 2048), 1) << "not before";
  EXPECT_EQ(reads("vllm-0.9", 63488, 2048), 31) << "of 2048 on an A100, whatever the context";
}

// 512 queries in blocks of 64, times 28 heads, are 224 blocks. 108 multiprocessors run 216 of them
// concurrently.
TEST(PromptAttention, TheLastRoundOfBlocksLeavesMultiprocessorsIdle) {
  test::OnCards c(qwen_7b, "bf16", "1x a100-sxm-80gb", "vllm-0.7");
  c.s.prompt_tokens = 63488;
  const Pass pass = prefill_pass(c.s, c.s.prompt_tokens);
  EXPECT_DOUBLE_EQ(idle_share(c.s, pass), 432.0 / 224 - 1);
  EXPECT_DOUBLE_EQ(idle_share(c.s, pass, 2), 216.0 / 112 - 1) << "14 heads on each of two cards";
  c.box.devices.front().multiprocessors = 112;
  EXPECT_DOUBLE_EQ(idle_share(c.s, pass), 0) << "one round";
  c.box.devices.front().multiprocessors = 0;
  EXPECT_DOUBLE_EQ(idle_share(c.s, pass), 0) << "no source says how many there are";
  const Engine even = [&] {
    Engine r = *c.s.runtime;
    r.kernels.attention_rows = 0;
    return r;
  }();
  c.box.devices.front().multiprocessors = 108;
  c.s.runtime = &even;
  EXPECT_DOUBLE_EQ(idle_share(c.s, pass), 0) << "blocks that share the work evenly";
}

TEST(PromptAttention, IdleMultiprocessorsTakeTimeOfScoresAlone) {
  test::OnCards c(qwen_7b, "bf16", "1x a100-sxm-80gb", "vllm-0.7");
  c.s.prompt_tokens = 126976;
  const auto seconds = [&] {
    return prefill(c.s, place(c.s, 1.0), c.s.prompt_tokens).of(Resource::cards).value();
  };
  const double idle = seconds();
  c.box.devices.front().multiprocessors = 112;
  const double busy = seconds();
  const Work work = work_of(c.s, prefill_pass(c.s, c.s.prompt_tokens), LayerSpan{{0, 28}});
  const double scores = work.attention_flops.value() / (c.box.devices.front().bf16->value() *
                                                        c.s.runtime->kernels.score_compute.value);
  EXPECT_NEAR(idle - busy, scores * (432.0 / 224 - 1), scores * 1e-9);
}

}  // namespace
}  // namespace headroom::model
