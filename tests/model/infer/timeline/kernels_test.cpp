// The kernels of a pass follow from the contents of its layers. Every kernel costs an engine time.
#include <gtest/gtest.h>

#include "model/infer/timeline/throughput.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

Size kernels_of(const char* model) {
  return test::catalogue_model(model).profile.kernels_before.back();
}
Size mixtures_of(const char* model) {
  return test::catalogue_model(model).profile.mixtures_before.back();
}

// Counted by hand from the modules that transformers prints.
TEST(Kernels, OnePerMatrixAndNormPlusCacheKernels) {
  // Kernels: q, k, v, o, gate, up, down. Two norms. Rotation, cache write and scores.
  EXPECT_EQ(kernels_of("meta-llama/Meta-Llama-3-8B"), 32 * (7 + 2 + 3));
  EXPECT_EQ(kernels_of("Qwen/Qwen3-8B"), 36 * (7 + 4 + 3)) << "norms of queries and keys";
  EXPECT_EQ(kernels_of("Qwen/Qwen3-30B-A3B"), 48 * (4 + 1 + 4 + 3))
      << "a router in place of an MLP";
  // q_a, q_b, kv_a, kv_b and o. Norms of the layer and of both latents. Dense layers have an MLP,
  // the others a router and a shared expert.
  EXPECT_EQ(kernels_of("deepseek-ai/DeepSeek-V3"), 61 * (5 + 4 + 7) + 3 * 3 + 58 * (1 + 3));
  EXPECT_EQ(mixtures_of("deepseek-ai/DeepSeek-V3"), 58);
  EXPECT_EQ(mixtures_of("Qwen/Qwen3-8B"), 0);
}

TEST(Kernels, OfExpertsDependOnTheEngine) {
  const char* model = "Qwen/Qwen3-30B-A3B";
  const auto of = [&](const char* engine) {
    const test::OnCards c(model, "bf16", "1x h100-sxm-80gb", engine);
    return kernels(c.s, decode_pass(c.s, {.self = 100}).layers) -
           static_cast<double>(kernels_of(model));
  };
  EXPECT_NEAR(of("vllm"), 48 * engine("vllm").kernels.moe_kernels_per_layer.value, 1e-6);
  const Engine& looped = engine("transformers-4.57");
  EXPECT_NEAR(of(looped.name.data()), 48 * (2 + 128 * looped.kernels.expert_kernels.value), 1e-6)
      << "keys and values are repeated";
}

// vLLM launches its first Marlin kernel for experts once for each expert. The other kernels process
// all experts in one launch.
TEST(Kernels, OfPackedExpertsWereLaunchedOneByOne) {
  const char* model = "Qwen/Qwen3-30B-A3B";
  const auto of = [&](const char* precision, const char* engine) {
    const test::OnCards c(model, precision, "1x h100-sxm-80gb", engine);
    return kernels(c.s, decode_pass(c.s, {.self = 100}).layers) -
           static_cast<double>(kernels_of(model));
  };
  const Engine& older = engine("sglang-0.4");
  EXPECT_NEAR(of("gptq-int4", "sglang-0.4"), 48 * 128 * older.kernels.expert_kernels.value, 1e-6);
  EXPECT_NEAR(of("bf16", "sglang-0.4"), 48 * older.kernels.moe_kernels_per_layer.value, 1e-6);
  EXPECT_NEAR(of("gptq-int4", "sglang"), 48 * engine("sglang").kernels.moe_kernels_per_layer.value,
              1e-6);
}

// Five matrices of attention, and three of an MLP or of a shared expert with a router. Routed
// experts add two products.
TEST(Kernels, ScaleActivationsByBlock) {
  const char* model = "deepseek-ai/DeepSeek-V3";
  const auto of = [&](const char* precision) {
    const test::OnCards c(model, precision, "8x h200-sxm-141gb", "sglang");
    return kernels(c.s, decode_pass(c.s, {.self = 100}).layers);
  };
  EXPECT_NEAR(of("fp8-block") - of("fp8-static"),
              (61 * 5 + 3 * 3 + 58 * (4 + 2)) * engine("sglang").kernels.packed_kernels.value,
              1e-9);
  EXPECT_EQ(of("fp8-static"), of("bf16"));
}

// Counted in the forward functions of the libraries. Each of 36 layers has 7 matrices.
TEST(Kernels, OfPackedWeightsAreMoreWhereTheyAreLaunchedFromPython) {
  const auto extra_kernels = [&](const char* precision, const char* engine) {
    const test::OnCards c("Qwen/Qwen3-8B", precision, "1x a100-sxm-80gb", engine);
    const test::OnCards plain("Qwen/Qwen3-8B", "bf16", "1x a100-sxm-80gb", engine);
    const Pass pass = decode_pass(c.s, {.self = 100});
    return (kernels(c.s, pass.layers) - kernels(plain.s, pass.layers)) / (36 * 7);
  };
  const double each = engine("transformers").kernels.packed_kernels.value;
  EXPECT_NEAR(extra_kernels("fp8-block", "transformers"), 3 * each, 1e-9);
  EXPECT_NEAR(extra_kernels("awq", "transformers"), each, 1e-9);
  EXPECT_NEAR(extra_kernels("gptq-int8", "transformers"), 3 * each, 1e-9) << "GPTQModel";
  EXPECT_NEAR(extra_kernels("gptq-int8", "transformers-4.47"),
              engine("transformers-4.47").kernels.packed_kernels.value, 1e-9)
      << "AutoGPTQ";
  EXPECT_NEAR(extra_kernels("gptq-int4", "transformers"), 0, 1e-9);
  EXPECT_NEAR(extra_kernels("awq", "vllm"), 0, 1e-9);
}

// A GTX 1650 Super takes 6.2 to 7.2 s for 2560 tokens of Qwen3-0.6B in fp16 (decode_speed-6859 to
// 6863). A T4 has the same compute capability, and tensor cores.
TEST(Kernels, AreSlowWhereTensorInstructionsAreEmulated) {
  const auto prompts = [](const char* card, const char* runtime) {
    test::OnCards c("Qwen/Qwen3-0.6B", "fp16", card, runtime);
    c.s.batch = 16;
    c.s.prompt_tokens = 160;
    return evaluate(c.s).ttft.value();
  };
  EXPECT_NEAR(prompts("1x gtx-1650-super", "vllm"), 6.7, 3);
  EXPECT_LT(prompts("1x t4", "vllm"), 0.5);
  EXPECT_LT(prompts("1x gtx-1650-super", "llama.cpp-vulkan"), 2.5) << "shader cores";
}

TEST(Kernels, AddTimeToThePassAndItsSequences) {
  test::OnCards c("meta-llama/Meta-Llama-3-8B", "bf16", "1x h100-sxm-80gb", "vllm");
  const Engine& r = *c.s.runtime;
  const double all = 32 * 12 * efficiency_of(c.s).kernel_s.value + r.serving.step_s.value;
  for (const Size batch : {1, 64}) {
    c.s.batch = batch;
    EXPECT_NEAR(launches(c.s, decode_pass(c.s, {.self = 100})).value(),
                all + static_cast<double>(batch) * r.serving.sequence_s.value, 1e-12);
  }
  c.s.batch = 1;  // a prompt of three chunks
  EXPECT_NEAR(launches(c.s, prefill_pass(c.s, 3 * r.serving.prefill_chunk)).value(),
              3 * all + r.serving.sequence_s.value, 1e-12);
}

}  // namespace
}  // namespace headroom::model
