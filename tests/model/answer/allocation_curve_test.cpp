// Speed against memory: results change only at the points of a curve. More memory is slower only at
// a jump with a reason.
#include "model/answer/allocation_curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "hardware/units.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using test::catalogue_model;
using test::machine;
using test::scenario;

std::vector<AllocationPoint> curve_of(const Scenario& s) {
  return allocation_curve(s, allocations(s, std::nullopt));
}

struct CurveCase {
  const char *model, *scheme, *runtime;
  Size cards, card_gib, ram_gib;
};
constexpr CurveCase cases[] = {
    {"meta-llama/Llama-2-7b-hf", "fp16", "transformers", 1, 24, 64},
    {"meta-llama/Llama-2-7b-hf", "q4_K_M", "llama.cpp", 2, 8, 64},
    {"facebook/opt-30b", "fp16", "transformers", 1, 8, 32},
    {"facebook/opt-30b", "fp16", "transformers", 4, 24, 16},
    {"Qwen/Qwen2.5-32B", "q8_0", "llama.cpp", 1, 24, 16},
    {"openai/gpt-oss-120b", "mxfp4", "llama.cpp", 2, 40, 64},
    {"openai/gpt-oss-120b", "mxfp4", "vllm", 4, 40, 64},
    {"facebook/opt-30b", "fp16", "transformers", 3, 20, 64},
    {"google/gemma-2-9b", "bf16", "vllm", 2, 24, 64},
};

struct Held {
  explicit Held(const CurveCase& c)
      : weights(quantise(catalogue_model(c.model), scheme(c.scheme))),
        on(machine(c.cards, c.card_gib, c.ram_gib)),
        s(scenario(weights, on, c.runtime)) {
    // Cards of a machine may differ.
    if (c.cards == 3) on.devices.back().bandwidth = BytesPerSecond(4e11);
  }
  QuantisedModel weights;
  Machine on;
  Scenario s;
};

TEST(AllocationCurve, NothingChangesBetweenTwoPoints) {
  std::mt19937 random(1);
  for (const CurveCase& c : cases) {
    const Held held(c);
    const auto curve = curve_of(held.s);
    for (int i = 0; i < 400; ++i) {
      Scenario s = held.s;
      const auto most = curve.back().allocation.count() / mebibyte.count();
      s.gpu_budget = std::uniform_int_distribution<Size>(0, most)(random) * mebibyte;
      const auto after =
          std::ranges::upper_bound(curve, s.gpu_budget, {}, &AllocationPoint::allocation);
      const Estimate& below = std::prev(after)->estimate;
      const Estimate e = evaluate(s);
      EXPECT_EQ(e.verdict, below.verdict) << c.model << ' ' << c.runtime << s.gpu_budget.count();
      EXPECT_EQ(e.layers_gpu, below.layers_gpu) << c.model << ' ' << c.runtime;
      EXPECT_EQ(e.tokens_s, below.tokens_s) << c.model << ' ' << c.runtime;
    }
  }
}

/// If one card cannot hold a mixture of experts, llama.cpp keeps as few layers' experts in host
/// memory as necessary. This is faster than offloading the last layers.
TEST(AllocationCurve, ExpertsStayInHostMemoryWhereThatIsQuicker) {
  const Held held({"openai/gpt-oss-120b", "mxfp4", "llama.cpp", 1, 24, 64});
  for (const AllocationPoint& p : curve_of(held.s)) {
    Scenario s = held.s;
    s.gpu_budget = p.allocation;
    // Whole layers on the CPU can be slightly quicker if not all layers fit without experts.
    if (p.plan.host_experts.size() == 0 || p.plan.on_cpu.size() > 0) continue;
    LayerSplit whole_layers;
    s.layer_split = &whole_layers;
    EXPECT_LT(p.estimate.tpot, evaluate(s).tpot) << p.allocation.count();
    EXPECT_TRUE(p.plan.partly_on_host);
    EXPECT_EQ(p.estimate.verdict, Verdict::fits_cpu_offload);
  }
  EXPECT_GT(curve_of(held.s).back().plan.host_experts.size(), 0);
  // Experts stay on the card if everything fits, and with engines that cannot offload them.
  const Held large({"openai/gpt-oss-120b", "mxfp4", "llama.cpp", 1, 80, 64});
  EXPECT_EQ(curve_of(large.s).back().plan.host_experts.size(), 0);
  const Held streamed({"openai/gpt-oss-20b", "mxfp4", "transformers", 1, 8, 64});
  for (const AllocationPoint& p : curve_of(streamed.s)) EXPECT_EQ(p.plan.host_experts.size(), 0);
}

TEST(AllocationCurve, MoreMemoryIsSlowerOnlyWhereAJumpSaysWhy) {
  for (const CurveCase& c : cases) {
    const Held held(c);
    const auto curve = curve_of(held.s);
    bool before = false;
    double speed = 0;
    for (const AllocationPoint& p : curve) {
      EXPECT_TRUE(runs(p) || !before) << c.model << ": more memory never stops it from running";
      before = runs(p);
      const bool named = std::ranges::any_of(p.jumps, [](Jump j) {
        return j == Jump::gpu_computes || j == Jump::fewer_gpus || j == Jump::more_gpus;
      });
      EXPECT_TRUE(named || p.estimate.tokens_s >= speed * (1 - 1e-9))
          << c.model << ' ' << c.runtime << " at " << p.allocation.count();
      speed = p.estimate.tokens_s;
    }
  }
}

TEST(AllocationCurve, JumpsAreNamedOnceAndInTheirOrder) {
  const Held held({"facebook/opt-30b", "fp16", "transformers", 1, 80, 32});
  std::vector<Jump> jumps;
  for (const AllocationPoint& p : curve_of(held.s))
    jumps.insert(jumps.end(), p.jumps.begin(), p.jumps.end());
  ASSERT_EQ(jumps.size(), 4u);
  EXPECT_EQ(jumps[0], Jump::gpu_computes);
  EXPECT_EQ(jumps[1], Jump::output_on_gpus);  // tied to the embedding, which is on the card first
  EXPECT_EQ(jumps[2], Jump::no_disk);
  EXPECT_EQ(jumps[3], Jump::last_layer);
}

TEST(AllocationCurve, LlamaCppPutsTheOutputOnACardFirst) {
  const Held held({"meta-llama/Llama-2-7b-hf", "q4_K_M", "llama.cpp", 1, 24, 64});
  const auto curve = curve_of(held.s);
  // The points are nothing, the output, 32 layers one by one, and the whole card.
  ASSERT_EQ(curve.size(), 35u);
  for (Size n = 0; n <= 32; ++n)
    EXPECT_EQ(curve[static_cast<std::size_t>(n + 1)].estimate.layers_gpu, n);
  EXPECT_EQ(curve[1].jumps, (std::vector{Jump::gpu_computes, Jump::output_on_gpus}));
  EXPECT_EQ(curve[33].jumps, std::vector{Jump::last_layer});
}

/// Until pull request 18148 of December 2025.
TEST(AllocationCurve, AnOldLlamaCppPutsTheOutputOnACardLast) {
  const Held held({"meta-llama/Llama-2-7b-hf", "q4_K_M", "llama.cpp-b7829", 1, 24, 64});
  const auto curve = curve_of(held.s);
  // The points are no layer, 32 layers one by one, the output, and the whole card.
  ASSERT_EQ(curve.size(), 35u);
  for (Size n = 0; n <= 32; ++n)
    EXPECT_EQ(curve[static_cast<std::size_t>(n)].estimate.layers_gpu, n);
  EXPECT_EQ(curve[32].jumps, std::vector{Jump::last_layer});
  EXPECT_EQ(curve[33].jumps, std::vector{Jump::output_on_gpus});
  EXPECT_GT(*curve[33].gain, *curve[32].gain);
}

TEST(AllocationCurve, StepsOfBytesEndAtAllOfTheCard) {
  const Held held({"meta-llama/Llama-2-7b-hf", "fp16", "transformers", 1, 24, 64});
  const Bytes gib{Size{1} << 30};
  const auto steps = allocations(held.s, 5 * gib);
  EXPECT_EQ(steps, (std::vector<Bytes>{Bytes(0), 5 * gib, 10 * gib, 15 * gib, 20 * gib,
                                       card_budget(held.s, 0)}));
  Scenario less = held.s;
  less.gpu_budget = 10 * gib;
  EXPECT_EQ(allocations(less, 5 * gib).back(), 10 * gib);
}

TEST(AllocationCurve, NeedsACardAndADecentStep) {
  const QuantisedModel weights = quantise(catalogue_model("Qwen/Qwen3-0.6B"), scheme("bf16"));
  const Machine none = machine(0, 0, 64), one = machine(1, 24, 64);
  EXPECT_THROW(allocations(scenario(weights, none, "transformers"), std::nullopt),
               std::invalid_argument);
  EXPECT_THROW(allocations(scenario(weights, one, "transformers"), Bytes(1)),
               std::invalid_argument);
}

}  // namespace
}  // namespace headroom::model
