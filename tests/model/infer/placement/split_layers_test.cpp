// Layers over cards: no card has more than its limit, and what is short is enough.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

// The tensors of a vision tower are small, so the allocator's blocks on its card have more unused
// ends than those on others.
TEST(SplitLayers, NoCardHasMoreThanItsLimit) {
  test::OnCards on("google/gemma-3-27b-it", "awq-int4", "2x rtx-3090", "transformers");
  for (Size mib = 6 * 1024; mib <= 20 * 1024; mib += 512) {
    on.s.gpu_budget = Bytes(mib << 20);
    const Estimate e = evaluate(on.s);
    if (fits(e.verdict)) {
      EXPECT_LE(e.gpu_bytes, on.s.gpu_budget) << mib;
    }
  }
}

// A plan that overflows its card gives way to the next one, not to one with still fewer layers. A
// layer takes 416 MiB.
TEST(SplitLayers, ASmallerBudgetTakesOneLayerAtATime) {
  test::OnCards on("meta-llama/Meta-Llama-3.1-8B", "bf16", "1x rtx-4090", "transformers");
  Size before = 0, most = 0;
  for (Size mib = 6 * 1024; mib <= 20 * 1024; mib += 64) {
    on.s.gpu_budget = Bytes(mib << 20);
    const Size layers = evaluate(on.s).layers_gpu;
    EXPECT_GE(layers, before) << mib;
    if (before > 0 && layers < 32) {
      EXPECT_LE(layers, before + 1) << mib;
    }
    before = layers;
    most = std::max(most, layers);
  }
  EXPECT_EQ(most, 32);
}

// mlx_lm/utils.py load_model and exllamav3 model/model.py put every layer on cards.
TEST(SplitLayers, AnEngineWithoutOffloadIsShortOfTheCardsAlone) {
  for (const auto& [name, weights] :
       {std::pair{"exllamav3", "exl3-5bpw"}, {"exllama", "gptq-int4"}}) {
    test::OnCards on("Qwen/Qwen3-32B", weights, "1x a100-sxm-80gb", name);
    on.s.kv_precision = &precision("fp16");
    for (const Size gib : {8, 12, 16}) {
      on.s.gpu_budget = Bytes(gib << 30);
      const Estimate e = evaluate(on.s);
      ASSERT_EQ(e.verdict, Verdict::does_not_fit) << name << ' ' << gib;
      EXPECT_EQ(e.reason, Reason::gpu_memory);
      const Bytes enough = on.s.gpu_budget + e.short_bytes;
      on.s.gpu_budget = enough;
      EXPECT_EQ(evaluate(on.s).verdict, Verdict::fits_one_gpu) << name << ' ' << gib;
      on.s.gpu_budget = enough - Bytes(Size{1} << 20);
      EXPECT_EQ(evaluate(on.s).verdict, Verdict::does_not_fit) << name << ' ' << gib;
    }
  }
}

// transformers 5.24 quantizer_bnb_8bit.py: adjust_max_memory leaves 0.9 of max_memory to weights,
// and validate_environment raises ValueError where they spill. Caches take what is free later.
TEST(SplitLayers, WeightsThatAreNeverDividedFillNineTenthsOfTheCards) {
  test::OnCards on("meta-llama/Llama-3.3-70B-Instruct", "int8", "2x a100-sxm-40gb", "transformers");
  const Estimate e = evaluate(on.s);
  EXPECT_EQ(e.verdict, Verdict::fits_gpus);
  EXPECT_GT(e.gpu_bytes.count(), Size{36} << 30);  // more than 0.9 of 39.5 GiB
  test::OnCards one("Qwen/Qwen3-32B", "nf4", "1x rtx-4090", "transformers");
  EXPECT_EQ(evaluate(one.s).verdict, Verdict::fits_one_gpu);
  one.s.gpu_budget = Bytes(Size{21} << 30);  // weights take 19.2 GiB
  EXPECT_EQ(evaluate(one.s).reason, Reason::no_offload);
}

TEST(SplitLayers, WeightsThatAreNeverDividedDoNotFallBackToTheCpu) {
  test::OnCards on("Qwen/Qwen3-32B", "nf4", "1x rtx-4060", "transformers");
  const Estimate e = evaluate(on.s);
  EXPECT_EQ(e.verdict, Verdict::does_not_fit);
  EXPECT_EQ(e.reason, Reason::no_offload);
  EXPECT_GT(e.short_bytes, Bytes(0));
  on.s.gpu_budget = Bytes(0);  // asks for the CPU
  EXPECT_EQ(evaluate(on.s).verdict, Verdict::fits_cpu_offload);
}

}  // namespace
}  // namespace headroom::model
