// Times of a pass against measurements that no constant alone can meet: their shapes.
#include "model/speed/speed.hpp"

#include <gtest/gtest.h>

#include "model/placement/layer_split.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// A model on named cards.
struct Case : test::OnCards {
  using OnCards::OnCards;
  double step(Size cached) const { return decode_step(s, place(s, 1.0), {.self = cached}).total; }
  double first(Size prompt) const { return prefill(s, place(s, 1.0), prompt).total; }
};

/// QwenLM/Qwen2.5 speed benchmark, transformers on one A100 80GB: 70.6 ms a token at 14,336 cached
/// and 120.3 ms at 30,720 (14B, AWQ), 34.8 and 54.2 (7B, GPTQ-Int4): 3.0 and 1.2 us a token, where
/// reading 196,608 and 57,344 bytes takes 0.10 and 0.03.
TEST(Speed, TransformersRepeatsKeysAndValuesForEachQueryHead) {
  const Case large("Qwen/Qwen2.5-14B", "awq-int4", "1x a100-sxm-80gb", "transformers-4.57");
  const Case small("Qwen/Qwen2.5-7B", "gptq-int4", "1x a100-sxm-80gb", "transformers-4.57");
  const auto slope = [](const Case& c) { return (c.step(120000) - c.step(80000)) / 40000; };
  EXPECT_NEAR(slope(large), 3.0e-6, 0.9e-6);
  EXPECT_NEAR(slope(small), 1.2e-6, 0.4e-6);
}

/// XiongjieDai, May 2024, tokens/s of a prompt of 4096: Q4_K_M 846 on 2 and 840 on 4 RTX 4090, 1488
/// on 8 (Llama-3-70B); 5266 on 1 and 8422 on 2 (Llama-3-8B).
TEST(Speed, ChunksFollowEachOtherWhereTheLaunchQueueHoldsALayersShare) {
  const auto rate = [](const char* model, const char* cards) {
    Case c(model, "q4_K_M", cards, "llama.cpp-b3120");
    LayerSplit all;
    all.gpu_layers = std::ssize(c.weights.layer) + 1;
    c.s.layer_split = &all;
    return 4096 / c.first(4096);
  };
  const char* large = "meta-llama/Meta-Llama-3-70B";
  const double two = rate(large, "2x rtx-4090");
  EXPECT_NEAR(rate(large, "4x rtx-4090 @ epyc-rome-512gb"), two, 0.1 * two);
  EXPECT_GT(rate(large, "8x rtx-4090 @ epyc-rome-512gb"), 1.4 * two);
  const char* small = "meta-llama/Meta-Llama-3-8B";
  EXPECT_GT(rate(small, "2x rtx-4090"), 1.3 * rate(small, "1x rtx-4090"));
}

/// ikawrakow/ik_llama.cpp issue 255, Qwen2.5-32B in Q5_K_M with no layer on the card: 2048 tokens
/// of prompt in 1.8 s with an RTX 4090 that weights are copied to, in 190 s where BLAS computes
/// them.
TEST(Speed, HostLayersOfALongPromptRunOnTheCardUnlessBlasTakesThem) {
  const auto seconds = [](const char* engine) {
    Case c("Qwen/Qwen2.5-32B", "q5_K_M", "1x rtx-4090", engine);
    LayerSplit none;
    none.gpu_layers = 0;
    c.s.layer_split = &none;
    return c.first(2048);
  };
  EXPECT_LT(seconds("llama.cpp"), 10);
  EXPECT_GT(seconds("llama.cpp-blas"), 10 * seconds("llama.cpp"));
}

/// Bandwidth that two sockets have together serves layers on the CPU less well than one socket's:
/// kvcache-ai/ktransformers, DeepSeek-R1 on one Xeon Gold 6454S and on two, 8.73 and 12.2 tokens/s.
TEST(Speed, AFurtherSocketAddsAShare) {
  const Case one("meta-llama/Llama-2-7b-hf", "q4_K_M", "cpu @ epyc-genoa-768gb", "llama.cpp");
  Case two("meta-llama/Llama-2-7b-hf", "q4_K_M", "cpu @ epyc-genoa-768gb", "llama.cpp");
  two.box.host.sockets = 2;
  const double far = two.s.runtime->far_bandwidth.value;
  ASSERT_GT(far, 0);
  ASSERT_LT(far, 1);
  EXPECT_NEAR(one.step(1) / two.step(1), (1 + far) / 2, 0.05);
}

/// QwenLM/Qwen2.5, vLLM 0.4.2 on one A100 80GB: Qwen2-0.5B takes 3.9 ms a token at 6,144 cached and
/// 9.2 ms at 14,336, beyond what it has captured as CUDA graphs. (Qwen1.5-0.5B has as many layers.)
TEST(Speed, LongContextsWithoutCudaGraphsAreBoundByLaunches) {
  const Case c("Qwen/Qwen1.5-0.5B", "bf16", "1x a100-sxm-80gb", "vllm-0.5");
  EXPECT_GT(c.step(15000), 1.7 * c.step(7000));
  EXPECT_NEAR(c.step(31000), c.step(15000), 0.1 * c.step(15000));
}

/// mlc-ai/llm-perf-bench, vLLM, CodeLlama-34B in fp16: 8 A10G, which meet over PCIe, are 1.41 times
/// as fast as 4; twice as fast they would be without the all-reduces.
TEST(Speed, AllReducesOverTheHostsBusCostMoreThanOverLinks) {
  Case four("codellama/CodeLlama-34b-hf", "fp16", "4x a10g", "vllm");
  Case eight("codellama/CodeLlama-34b-hf", "fp16", "8x a10g", "vllm");
  four.s.tensor_parallel = 4;
  eight.s.tensor_parallel = 8;
  EXPECT_NEAR(four.step(128) / eight.step(128), 1.41, 0.2);
}

}  // namespace
}  // namespace headroom::model
