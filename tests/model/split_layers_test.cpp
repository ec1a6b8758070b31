// Layers over cards: no card has more than its limit, and what is short is enough.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace headroom::model
