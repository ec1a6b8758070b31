// Expert parallelism: accepted numbers of cards, and the weights that each card stores and reads.
#include <gtest/gtest.h>

#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/timeline/experts_touched.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// The expected maximum over groups of a multivariate hypergeometric draw. It follows from the
/// exact number of draws with at most m of each group. This number is a coefficient of (sum of
/// C(each, j) x^j for j up to m)^groups.
struct Spread {
  Size experts, used, groups;
  double most;
};
constexpr Spread spreads[] = {{128, 8, 2, 5.059}, {128, 8, 4, 3.486}, {128, 8, 8, 2.530},
                              {256, 8, 8, 2.564}, {64, 6, 8, 2.091},  {32, 4, 4, 2.051},
                              {8, 2, 4, 1.143},   {8, 2, 8, 1.000}};

TEST(ExpertSpread, TheFullestGroupHasMoreThanItsShareOfWhatOneTokenUses) {
  for (const Spread& row : spreads) {
    Profile profile;
    profile.routing = {row.experts, row.used};
    const double each = static_cast<double>(row.experts) / static_cast<double>(row.groups);
    EXPECT_NEAR(experts_touched(profile, 1, row.groups) * each, row.most, 0.06 * row.most)
        << row.experts << ' ' << row.groups;
    EXPECT_NEAR(experts_touched(profile, 1e6, row.groups), 1, 1e-9);
    double before = 0;
    for (double tokens = 1; tokens < 1000; tokens *= 1.3) {
      const double share = experts_touched(profile, tokens, row.groups);
      EXPECT_GE(share, before - 1e-9) << tokens;
      EXPECT_GE(share, experts_touched(profile, tokens) - 1e-9) << tokens;
      EXPECT_LE(share, 1) << tokens;
      before = share;
    }
  }
}

Estimate split(Scenario s, Size tensor, Size expert, Size data = 0, Size batch = 1) {
  s.tensor_parallel = tensor;
  s.expert_parallel = expert;
  s.data_parallel = data;
  s.batch = batch;
  return evaluate(s);
}

TEST(ExpertSpread, WholeExpertsWaitForTheFullestCard) {
  for (const char* engine : {"vllm", "sglang", "tensorrt-llm"}) {
    const test::OnCards on("Qwen/Qwen3-30B-A3B", "bf16", "8x h100-sxm-80gb", engine);
    const Estimate divided = split(on.s, 4, 0), whole = split(on.s, 4, 4);
    ASSERT_EQ(whole.verdict, Verdict::fits_gpus) << engine;
    EXPECT_EQ(whole.gpu_bytes, divided.gpu_bytes) << "32 of 128 experts, or a quarter of each";
    EXPECT_GT(whole.tpot, divided.tpot) << engine;
    EXPECT_EQ(split(on.s, 4, 1).tpot, divided.tpot);
    // If every expert is used, no card reads more experts than another.
    const Estimate many = split(on.s, 4, 0, 0, 2048), spread = split(on.s, 4, 4, 0, 2048);
    EXPECT_NEAR(spread.tpot / many.tpot, 1, 1e-6) << engine;
  }
}

TEST(ExpertSpread, EnginesTakeTheirOwnNumbers) {
  const test::OnCards vllm("Qwen/Qwen3-30B-A3B", "bf16", "8x h100-sxm-80gb", "vllm");
  EXPECT_EQ(split(vllm.s, 4, 2).reason, Reason::experts_span_replicas);
  EXPECT_EQ(split(vllm.s, 4, 8, 2).verdict, Verdict::fits_gpus);
  const test::OnCards sglang("Qwen/Qwen3-30B-A3B", "bf16", "8x h100-sxm-80gb", "sglang");
  EXPECT_EQ(split(sglang.s, 4, 8, 2).verdict, Verdict::fits_gpus) << "replicas of the attention";
  EXPECT_EQ(split(sglang.s, 4, 8).reason, Reason::experts_divide_cards);
  EXPECT_EQ(split(sglang.s, 2, 3, 4).reason, Reason::experts_divide_cards);
  EXPECT_EQ(split(sglang.s, 4, 3).reason, Reason::experts_divide_cards);
  const Seconds two = split(sglang.s, 4, 2).tpot;
  EXPECT_GT(two, split(sglang.s, 4, 0).tpot);
  EXPECT_LT(two, split(sglang.s, 4, 4).tpot);
  // 60 experts do not divide into 8 groups. On vLLM, four cards have 8 experts and the others 7.
  const test::OnCards uneven("Qwen/Qwen1.5-MoE-A2.7B", "bf16", "8x h100-sxm-80gb", "vllm");
  EXPECT_GT(split(uneven.s, 8, 8).gpu_bytes, split(uneven.s, 8, 0).gpu_bytes);
  const test::OnCards refused("Qwen/Qwen1.5-MoE-A2.7B", "bf16", "8x h100-sxm-80gb", "sglang");
  EXPECT_EQ(split(refused.s, 8, 8).reason, Reason::experts_divide_cards);
  const test::OnCards dense("meta-llama/Llama-3.1-8B", "bf16", "8x h100-sxm-80gb", "vllm");
  EXPECT_EQ(split(dense.s, 4, 4).reason, Reason::no_experts);
  for (const char* engine : {"llama.cpp", "transformers", "mlc-llm", "deepspeed-inference"}) {
    const test::OnCards none("Qwen/Qwen3-30B-A3B", "bf16", "8x h100-sxm-80gb", engine);
    EXPECT_EQ(split(none.s, 0, 4).reason, Reason::parallelism_unsupported) << engine;
  }
}

// vLLM's replicas share the experts, SGLang's only with expert parallelism over them. Replicas of a
// dense model are the same on both.
TEST(ExpertSpread, ReplicasAreCopiesWhereTheyShareNothing) {
  for (const char* engine : {"vllm", "sglang"}) {
    const test::OnCards dense("meta-llama/Llama-3.1-8B", "bf16", "8x h100-sxm-80gb", engine);
    const Estimate one = split(dense.s, 2, 0), four = split(dense.s, 2, 0, 4);
    EXPECT_EQ(four.gpus_used, 8);
    EXPECT_EQ(four.gpu_bytes, one.gpu_bytes);
    EXPECT_EQ(four.tpot, one.tpot);
    EXPECT_DOUBLE_EQ(four.tokens_s, 4 * one.tokens_s);
    const test::OnCards routed("Qwen/Qwen3-30B-A3B", "bf16", "8x h100-sxm-80gb", engine);
    const Estimate copy = split(routed.s, 2, 0), copies = split(routed.s, 2, 0, 4);
    if (std::string_view(engine) == "vllm")
      EXPECT_LT(copies.gpu_bytes, copy.gpu_bytes);
    else
      EXPECT_EQ(copies.gpu_bytes, copy.gpu_bytes);
  }
}

}  // namespace
}  // namespace headroom::model
