// Times of passes with the CPU, the host's bus or links, compared with published measurements.
#include "tests/model/infer/timeline/speed_fixture.hpp"

namespace headroom::model {
namespace {

/// Source: ikawrakow/ik_llama.cpp issue 255, Qwen2.5-32B in Q5_K_M with no layer on the card. 2048
/// tokens of prompt take 1.8 s if weights are copied to an RTX 4090. They take 190 s if BLAS
/// computes them.
TEST(Speed, HostLayersOfALongPromptRunOnTheCardUnlessBlasTakesThem) {
  const auto seconds = [](const char* engine) {
    SpeedCase c("Qwen/Qwen2.5-32B", "q5_K_M", "1x rtx-4090", engine);
    LayerSplit none;
    none.gpu_layers = 0;
    c.s.layer_split = &none;
    return c.first(2048);
  };
  EXPECT_LT(seconds("llama.cpp"), 10);
  EXPECT_GT(seconds("llama.cpp-blas"), 10 * seconds("llama.cpp"));
}

/// Qwen3-30B-A3B has experts in each of 48 layers. A token therefore changes between the card and
/// the CPU 96 times, at any cost.
TEST(Speed, ExpertsInHostMemoryCostAWayThereAndBackInEachLayer) {
  SpeedCase c("Qwen/Qwen3-30B-A3B", "q4_K_M", "1x rtx-4090 @ epyc-rome-512gb", "llama.cpp");
  LayerSplit split;
  split.gpu_layers = std::ssize(c.weights.layer) + 1;
  Engine slow = *c.s.runtime;
  slow.offload.device_handoff_s.value += 1e-3;
  const auto added = [&](Size layers) {
    split.on_host = experts_on_host(c.weights, layers);
    c.s.layer_split = &split;
    const double before = c.step(128);
    const Engine* own = std::exchange(c.s.runtime, &slow);
    const double after = c.step(128);
    c.s.runtime = own;
    return after - before;
  };
  EXPECT_NEAR(added(48), 96e-3, 1e-9);
  EXPECT_NEAR(added(10), 20e-3, 1e-9);
}

/// ggml-cuda copies host layers to the card for 32 tokens or more, even if this takes longer.
/// Source: quasar-of-mikus, ik_llama.cpp pull request 520. 34 tokens of DeepSeek-V3 in IQ1_S took
/// 23 s over PCIe 3.0 x8, and 3 s on the CPU.
TEST(Speed, ThirtyTwoTokensAreComputedOnTheCardAtWhateverCost) {
  SpeedCase c("Qwen/Qwen3-235B-A22B", "q4_K_M", "1x rtx-4090 @ epyc-rome-512gb", "llama.cpp");
  LayerSplit split;
  split.gpu_layers = std::ssize(c.weights.layer) + 1;
  split.on_host = experts_on_host(c.weights, split.gpu_layers);
  c.s.layer_split = &split;
  EXPECT_GT(c.first(32), 2 * c.first(31));
  Engine free = *c.s.runtime;
  free.offload.prefill = PrefillOffload::faster;
  const double without = c.first(31);
  c.s.runtime = &free;
  EXPECT_LT(c.first(32), 1.1 * without);
}

/// The combined bandwidth of two sockets serves layers on the CPU less well than one socket's.
/// Source: kvcache-ai/ktransformers, DeepSeek-R1 on one and two Xeon Gold 6454S, 8.73 and 12.2
/// tokens/s.
TEST(Speed, AFurtherSocketAddsAShare) {
  const SpeedCase one("meta-llama/Llama-2-7b-hf", "q4_K_M", "cpu @ epyc-genoa-768gb", "llama.cpp");
  SpeedCase two("meta-llama/Llama-2-7b-hf", "q4_K_M", "cpu @ epyc-genoa-768gb", "llama.cpp");
  two.box.host.sockets = 2;
  const double far = two.s.runtime->offload.remote_numa_share.value;
  ASSERT_GT(far, 0);
  ASSERT_LT(far, 1);
  EXPECT_NEAR(one.step(1) / two.step(1), (1 + far) / 2, 0.05);
}

/// Contexts beyond the captured CUDA graphs are launch-bound. Source: QwenLM/Qwen2.5, vLLM 0.4.2 on
/// one A100 80GB. Qwen2-0.5B takes 3.9 ms per token at 6,144 cached tokens and 9.2 ms at 14,336.
/// (Qwen1.5-0.5B has as many layers.)
TEST(Speed, LongContextsWithoutCudaGraphsAreBoundByLaunches) {
  const SpeedCase c("Qwen/Qwen1.5-0.5B", "bf16", "1x a100-sxm-80gb", "vllm-0.5");
  EXPECT_GT(c.step(15000), 1.7 * c.step(7000));
  EXPECT_NEAR(c.step(31000), c.step(15000), 0.1 * c.step(15000));
}

/// All-reduces keep eight cards from being twice as fast as four. Source: mlc-ai/llm-perf-bench,
/// MLC, CodeLlama-34B in fp16. 8 A10G, connected by PCIe, are 1.67 times as fast as 4.
TEST(Speed, AllReducesOverTheHostsBusCostMoreThanOverLinks) {
  SpeedCase four("codellama/CodeLlama-34b-hf", "fp16", "4x a10g", "mlc-llm");
  SpeedCase eight("codellama/CodeLlama-34b-hf", "fp16", "8x a10g", "mlc-llm");
  four.s.tensor_parallel = 4;
  eight.s.tensor_parallel = 8;
  EXPECT_NEAR(four.step(128) / eight.step(128), 1.67, 0.15);
}

/// accelerate copies weights from pageable memory. Source: NVlabs/cuda-oxide pull 976, an RTX 4090
/// on PCIe 4.0: 12.9 GB/s from pageable memory, 23.9 from pinned; vllm-omni pull 5922, an H20 on
/// PCIe 5.0: 63 GB in 7.5 s; vortex-data/vortex pull 7815, GH200: 93 GiB/s from pageable memory.
TEST(Speed, OneThreadBoundsCopiesFromPageableMemory) {
  const auto rate = [](const char* machine, const char* engine) {
    const SpeedCase c("facebook/opt-30b", "fp16", machine, engine);
    return bus_rate(c.s).value() / 1e9;
  };
  EXPECT_NEAR(rate("1x rtx-4090", "transformers"), 12.9, 1);
  EXPECT_GT(rate("1x rtx-4090", "zero-inference"), 17);  // pinned
  EXPECT_LT(rate("1x h20-96gb", "transformers"), 20);
  EXPECT_GT(rate("1x h20-96gb", "zero-inference"), 30);
  EXPECT_LT(rate("1x t4", "transformers"), 8);  // the bus
  EXPECT_GT(rate("1x gh200-96gb", "transformers"), 90);
}

}  // namespace
}  // namespace headroom::model
