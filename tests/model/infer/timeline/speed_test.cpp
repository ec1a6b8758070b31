// Times of a pass, compared with measurements that need the right shape and not only the right
// constants.
#include "tests/model/infer/timeline/speed_fixture.hpp"

namespace headroom::model {
namespace {

/// Source: QwenLM/Qwen2.5 speed benchmark, transformers on one A100 80GB. The 14B model in AWQ
/// takes 70.6 ms per token at 14,336 cached tokens and 120.3 ms at 30,720. The 7B model in
/// GPTQ-Int4 takes 34.8 and 54.2 ms. These are 3.0 and 1.2 us per cached token. Reading 196,608 and
/// 57,344 bytes takes only 0.10 and 0.03 us.
TEST(Speed, TransformersRepeatsKeysAndValuesForEachQueryHead) {
  const SpeedCase large("Qwen/Qwen2.5-14B", "awq-int4", "1x a100-sxm-80gb", "transformers-4.47");
  const SpeedCase small("Qwen/Qwen2.5-7B", "gptq-int4", "1x a100-sxm-80gb", "transformers-4.47");
  const auto slope = [](const SpeedCase& c) { return (c.step(120000) - c.step(80000)) / 40000; };
  EXPECT_NEAR(slope(large), 3.0e-6, 0.9e-6);
  EXPECT_NEAR(slope(small), 1.2e-6, 0.4e-6);
}

/// Source: huggingface/transformers-bloom-inference, one sequence of 8 + 100 tokens by
/// DeepSpeed-Inference on eight A100: 44.02 ms a token in fp16, 89.09 ms in int8; on four 156.51
/// ms in int8. Each matrix of int8 is written to memory in 16 bit before its product.
TEST(Speed, DeepSpeedUnpacksMatricesForEachToken) {
  const auto step = [](const char* precision, const char* machine) {
    return SpeedCase("bigscience/bloom", precision, machine, "deepspeed-inference").step(58);
  };
  const double packed = step("int8", "8x a100-sxm-80gb");
  EXPECT_NEAR(packed, 89.09e-3, 13e-3);
  EXPECT_NEAR(step("int8", "4x a100-sxm-80gb"), 156.51e-3, 23e-3);
  EXPECT_GT(packed, 1.3 * step("fp16", "8x a100-sxm-80gb"));
}

/// Source: QwenLM/Qwen3 speed benchmark, transformers 4.51 on one H20. From 1 cached token to
/// 30,720, the time per token of Qwen3-14B rises by 22 ms in AWQ and by 78 ms in BF16. The prompt
/// causes 5 of the 22 ms.
TEST(Speed, FlashAttentionSparesCopiesForEachQueryHead) {
  const auto slope = [](const char* precision, const char* engine) {
    const SpeedCase c("Qwen/Qwen3-14B", precision, "1x h20-96gb", engine);
    return (c.step(120000) - c.step(80000)) / 40000;
  };
  EXPECT_NEAR(slope("awq-int4", "transformers-4.57-fa2"), 0.6e-6, 0.3e-6);
  EXPECT_GT(slope("bf16", "transformers-4.57"), 4 * slope("bf16", "transformers-4.57-fa2"));
}

/// Source: QwenLM/Qwen3 speed benchmark, transformers on one H20. With 30,720 cached tokens,
/// Qwen3-8B takes 54.5 ms per token longer than without in BF16, and 57.5 ms in FP8. In BF16,
/// launches hide a part of this time.
TEST(Speed, TransformersWaitsForEachProductOfBlocks) {
  for (const auto& [precision, waits] : {std::pair("fp8-block", true), std::pair("bf16", false)}) {
    const SpeedCase c("Qwen/Qwen3-8B", precision, "1x h20-96gb", "transformers-4.57");
    const Timeline time = decode_step(c.s, place(c.s, 1.0), {.self = 1});
    const Seconds launches = time.of(Resource::launches), cards = time.of(Resource::cards);
    EXPECT_GT(launches, cards);
    EXPECT_NEAR(time.total.value(), (launches + (waits ? cards : Seconds())).value(), 1e-9)
        << precision;
  }
}

/// Attention runs between matrix products. The time to read caches therefore adds to theirs, even
/// if large batches make the products compute-bound.
TEST(Speed, CacheReadsAddToProducts) {
  const auto slope = [](Size batch) {
    SpeedCase c("meta-llama/Meta-Llama-3-8B", "bf16", "1x h100-sxm-80gb", "vllm");
    c.s.batch = batch;
    return (c.step(300) - c.step(100)) / (200 * static_cast<double>(batch));
  };
  EXPECT_NEAR(slope(512) / slope(1), 1, 0.2);
}

/// M1 and M2 have different shader cores, 10.4 and 13.6 TFLOPS, but both have 400 GB/s. Unpacking
/// of super-blocks shows this difference, 16 bit does not.
TEST(Speed, UnpackingSuperBlocksTakesApplesShaderCores) {
  const auto older = [](const char* weights) {
    const SpeedCase m1("meta-llama/Meta-Llama-3-8B", weights, "1x m1-max-64gb", "llama.cpp");
    const SpeedCase m2("meta-llama/Meta-Llama-3-8B", weights, "1x m2-max-64gb", "llama.cpp");
    return m1.step(100) / m2.step(100);
  };
  EXPECT_GT(older("q4_K_M"), 1.1);
  EXPECT_NEAR(older("gguf-f16"), 1, 0.01);
  EXPECT_NEAR(older("q4_0"), 1, 0.01);
}

/// Four weights of 2 or 3 bits share a scale, so a P40 needs longer to unpack than to read them.
/// Half of its shader cores unpack weights of 4 bits as fast as it reads them.
TEST(Speed, UnpackingOfFewBitsTakesShaderCores) {
  const auto step = [](const char* weights, double cores) {
    SpeedCase c("meta-llama/Llama-2-7b-hf", weights, "1x p40", "llama.cpp-b3120");
    Device& card = c.box.devices.front();
    card.fp32 = FlopsPerSecond(cores * card.fp32->value());
    return c.step(64);
  };
  EXPECT_NEAR(step("q2_K", 1), 0.0300, 0.0060);
  EXPECT_NEAR(step("q3_K_S", 1), 0.0325, 0.0065);
  EXPECT_GT(step("q2_K", 0.5), 1.7 * step("q2_K", 1));
  EXPECT_NEAR(step("q4_K_S", 0.5), step("q4_K_S", 1), 1e-9);
  EXPECT_LT(step("q2_K", 100), step("q4_K_S", 1));
  // Since Volta, other lanes do this work.
  const auto on_a100 = [](const char* weights) {
    return SpeedCase("meta-llama/Llama-2-7b-hf", weights, "1x a100-sxm-80gb", "llama.cpp").step(64);
  };
  EXPECT_LT(on_a100("q2_K"), on_a100("q4_K_S"));
}

/// A decode step beyond the captured graphs. Each of two all-reduces per layer launches a copy and
/// a kernel.
TEST(Speed, AllReducesAreLaunchedToo) {
  const auto kernels_at = [](Size cards) {
    SpeedCase c("Qwen/Qwen3-0.6B", "bf16", "2x a100-sxm-80gb", "vllm-0.5");
    c.s.tensor_parallel = cards;
    return c.step(10000) / c.s.runtime->kernels.eager_kernel_s.value;
  };
  EXPECT_NEAR(kernels_at(1), 28 * 14, 1e-6);
  EXPECT_NEAR(kernels_at(2), 28 * (14 + 4), 1e-6);
}

/// A prompt in llama.cpp of May 2024, with everything on cards.
double prompt_seconds(const char* model, const char* weights, const char* cards, Size prompt) {
  SpeedCase c(model, weights, cards, "llama.cpp-b3120");
  LayerSplit all;
  all.gpu_layers = std::ssize(c.weights.layer) + 1;
  c.s.layer_split = &all;
  return c.first(prompt);
}
constexpr const char* llama_70b = "meta-llama/Meta-Llama-3-70B";

/// The way chunks overlap does not depend on the speed of a card. Source: XiongjieDai, May 2024,
/// tokens/s at 512, 1024 and 4096 tokens of prompt. Llama-3-70B: RTX 4090 in Q4_K_M on 2 cards
/// 839.43, 905.38, 846.38 and on 8 812.95, 1336.26, 1488.36. RTX 4000 Ada in Q4_K_M on 4 282.28,
/// 306.44, 290.70. A100 PCIe in F16 on 4 1172.14, 1733.41, 1846.36. Llama-3-8B: RTX 4090 in Q4_K_M
/// on 2 7003.51, 8545.00, 8422.04.
TEST(Speed, ChunksFollowEachOtherAsFarAsLaunchQueuesHoldThem) {
  const struct {
    const char *model, *weights, *cards;
    double at_512, at_1024, at_4096;
  } rows[] = {{llama_70b, "q4_K_M", "2x rtx-4090", 839.43, 905.38, 846.38},
              {llama_70b, "q4_K_M", "8x rtx-4090 @ epyc-rome-512gb", 812.95, 1336.26, 1488.36},
              {llama_70b, "q4_K_M", "4x rtx-4000-ada @ epyc-rome-512gb", 282.28, 306.44, 290.70},
              {llama_70b, "fp16", "4x a100-pcie-80gb @ epyc-rome-512gb", 1172.14, 1733.41, 1846.36},
              {"meta-llama/Meta-Llama-3-8B", "q4_K_M", "2x rtx-4090", 7003.51, 8545.00, 8422.04}};
  for (const auto& row : rows) {
    const auto rate = [&](Size prompt) {
      return static_cast<double>(prompt) /
             prompt_seconds(row.model, row.weights, row.cards, prompt);
    };
    const double first = rate(512);
    EXPECT_NEAR(rate(1024) / first, row.at_1024 / row.at_512, 0.1) << row.cards;
    EXPECT_NEAR(rate(4096) / first, row.at_4096 / row.at_512, 0.25) << row.cards;
  }
}

/// Weights in Q4_K_M are unpacked and then multiplied like weights in F16. Source: XiongjieDai, May
/// 2024, 512 tokens of Llama-3-8B. RTX 4090 7138.99 and 9382 tokens/s, RTX A6000 3780.55 and
/// 4511.02. Metal unpacks in registers.
TEST(Speed, DequantisationAddsToProducts) {
  for (const auto& [card, times] :
       {std::pair("1x rtx-4090", 9382.0 / 7138.99), std::pair("1x rtx-a6000", 4511.02 / 3780.55)}) {
    const double packed = prompt_seconds("meta-llama/Meta-Llama-3-8B", "q4_K_M", card, 512);
    const double plain = prompt_seconds("meta-llama/Meta-Llama-3-8B", "fp16", card, 512);
    EXPECT_GT(packed, plain) << card;
    EXPECT_NEAR(packed / plain, times, 0.2) << card;
  }
  const SpeedCase metal("meta-llama/Meta-Llama-3-8B", "q4_K_M", "1x m2-ultra-192gb",
                        "llama.cpp-b3120");
  EXPECT_FALSE(unpacks_into_memory(metal.s, metal.box.devices[0]));
  const SpeedCase volta("meta-llama/Meta-Llama-3-8B", "q4_K_M", "1x v100-sxm-32gb", "llama.cpp");
  EXPECT_TRUE(unpacks_into_memory(volta.s, volta.box.devices[0]));
  const SpeedCase pascal("meta-llama/Meta-Llama-3-8B", "q4_K_M", "1x p40", "llama.cpp-b3120");
  EXPECT_FALSE(unpacks_into_memory(pascal.s, pascal.box.devices[0]));
}

/// Source: NVIDIA Ada architecture white paper. An RTX 4090 multiplies fp16 at 330 TFLOPS with fp16
/// sums, and at half of that with fp32 sums. ExLlama requests fp16 sums from cuBLAS (cublasHgemm).
TEST(Speed, ExLlamaSumsIn16Bit) {
  for (const char* engine : {"exllama", "exllama-1"}) {
    const SpeedCase c("meta-llama/Meta-Llama-3-8B", "gptq-int4", "1x rtx-4090", engine);
    EXPECT_NEAR(product_peak(c.s, c.box.devices[0]).value(), 330.3e12, 1e12) << engine;
  }
  const SpeedCase c("meta-llama/Meta-Llama-3-8B", "gptq-int4", "1x rtx-4090", "vllm");
  EXPECT_NEAR(product_peak(c.s, c.box.devices[0]).value(), 165.2e12, 1e12);
}

/// Weights of 4 bits that are unpacked to 16 are multiplied like 16-bit weights. They must not be
/// faster, even if the constants of the engine differ.
TEST(Speed, UnpackedWeightsAreMultipliedNoFasterThanThoseOf16Bit) {
  for (const char* runtime : {"vllm", "sglang", "tensorrt-llm", "transformers", "exllama"})
    for (const char* card : {"1x rtx-4090", "1x a100-sxm-80gb", "1x h100-sxm-80gb"}) {
      const SpeedCase packed("meta-llama/Meta-Llama-3-8B", "gptq-int4", card, runtime),
          plain("meta-llama/Meta-Llama-3-8B", "fp16", card, runtime);
      EXPECT_LE(card_rate(packed.s, packed.box.devices[0]).flops_s,
                card_rate(plain.s, plain.box.devices[0]).flops_s)
          << runtime << " on " << card;
    }
}

/// A prompt reads the weights of its experts in addition to its products, once for each chunk, and
/// `expert_reads` times. For a generated token, reading overlaps with its products.
TEST(Speed, PrefillExpertReadsAddToProducts) {
  SpeedCase c("Qwen/Qwen3-30B-A3B", "q8_0", "1x rtx-4090", "llama.cpp");
  Throughput none;
  none.bytes_s = BytesPerSecond(1e12);
  none.flops_s = none.attend_s = FlopsPerSecond(1e12);
  Throughput twice = none;
  twice.expert_reads = 2;
  const auto beside = [&](const Pass& pass) {
    const Work work = work_of(c.s, pass, LayerSpan{pass.layers});
    return (roofline(work, twice).compute() - roofline(work, none).compute()).value();
  };
  const double experts = 48.0 * 128 * 3 * 2048 * 768 * 34 / 32 / 1e12;
  EXPECT_NEAR(beside(prefill_pass(c.s, 512)), 2 * experts, 1e-6 * experts);
  EXPECT_NEAR(beside(prefill_pass(c.s, 2048)), 4 * 2 * experts, 1e-6 * experts);
  EXPECT_EQ(beside(decode_pass(c.s, {.self = 512})), 0);
}

/// AutoAWQ's GEMV kernels multiply 128 tokens at a time, its GEMM kernels only a few.
TEST(Speed, PromptsAreMultipliedInWholeTiles) {
  const auto flops = [](const char* engine, Size tokens) {
    SpeedCase c("meta-llama/Meta-Llama-3-8B", "awq-int4", "1x rtx-4090", engine);
    const Pass pass = prefill_pass(c.s, tokens);
    const Work work = work_of(c.s, pass, LayerSpan{pass.layers});
    return work.flops - work.attention_flops;
  };
  EXPECT_EQ(flops("autoawq-gemv", 1), flops("autoawq", 128));
  EXPECT_EQ(flops("autoawq-gemv", 128), flops("autoawq", 128));
  EXPECT_EQ(flops("autoawq-gemv", 129), flops("autoawq", 256));
}

}  // namespace
}  // namespace headroom::model
