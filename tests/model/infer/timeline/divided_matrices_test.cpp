// Cards that divide each matrix: how long an exchange takes by the way between the cards, and
// llama.cpp with --split-mode tensor.
#include <gtest/gtest.h>

#include "model/infer/estimate.hpp"
#include "model/infer/timeline/passes.hpp"
#include "model/infer/timeline/throughput.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

Seconds exchanges(const test::OnCards& c) {
  return decode_step(c.s, place(c.s, 1.0), {.self = 512}).of(Resource::link);
}

TEST(Exchange, ARingOverTheBusGrowsWithTheCardsAndADirectOneDoesNot) {
  const Constant of_two{9e-6, 4e-6, 20e-6, 0, {}};
  EXPECT_DOUBLE_EQ(reduce_start(of_two, LinkPath::bus, 2).value(), 9e-6);
  EXPECT_DOUBLE_EQ(reduce_start(of_two, LinkPath::bus, 8).value(), 27e-6);
  EXPECT_DOUBLE_EQ(reduce_start(of_two, LinkPath::own, 8).value(), 9e-6);
  EXPECT_DOUBLE_EQ(reduce_start(of_two, LinkPath::network, 16).value(), 9e-6);
}

/// Only the constant of the way that the cards have counts. A step of 32 layers has 64 exchanges.
TEST(Exchange, HasAConstantForEachWay) {
  constexpr const char* llama = "meta-llama/Meta-Llama-3-8B";
  struct Row {
    const char* machine;
    Constant ParallelPolicy::*constant;
    double ring;
  };
  const Row rows[] = {
      {"4x h100-sxm-80gb @ dgx-h100", &ParallelPolicy::reduce_latency_s, 1},
      {"4x rtx-4090 @ epyc-rome-512gb", &ParallelPolicy::reduce_over_bus_s, 5.0 / 3},
      {"16x h100-sxm-80gb @ dgx-h100", &ParallelPolicy::reduce_over_network_s, 1},
  };
  for (const Row& row : rows)
    for (const Row& other : rows) {
      test::OnCards c(llama, "bf16", row.machine, "vllm");
      c.s.tensor_parallel = std::ssize(c.box.devices);
      const double before = exchanges(c).value();
      Engine slower = *c.s.runtime;
      (slower.parallel.*other.constant).value += 1e-3;
      c.s.runtime = &slower;
      const double expected = row.constant == other.constant ? 64 * 1e-3 * row.ring : 0;
      EXPECT_NEAR(exchanges(c).value() - before, expected, 1e-9) << row.machine;
    }
}

constexpr const char* llama_3_3_70b = "meta-llama/Llama-3.3-70B-Instruct";

/// src/llama-model.cpp llama_meta_device_get_split_state: matrices and caches are divided, norms
/// are on each card, the embedding is in host memory.
TEST(SplitModeTensor, DividesMatricesAndCaches) {
  test::OnCards c(llama_3_3_70b, "gguf-f16", "4x a100-sxm-80gb", "llama.cpp-tensor");
  c.s.context = 8192;
  const Plan plan = place(c.s, 1.0);
  ASSERT_TRUE(plan.feasible());
  constexpr Size hidden = 8192, vocabulary = 128256, layers = 80, fp32 = 4;
  constexpr Size norms = (2 * layers + 1) * hidden * fp32;
  EXPECT_EQ(host_use(c.s, plan).weights, Bytes(2 * hidden * vocabulary));
  for (Size card = 0; card < 4; ++card) {
    const CardUse use = card_use(c.s, plan, card);
    const double matrices =
        (c.s.weights->total - Bytes(2 * hidden * vocabulary) - Bytes(norms)).real().value();
    EXPECT_NEAR(use.weights.real().value(), matrices / 4 + norms, 1e-5 * matrices);
    EXPECT_EQ(use.kv_cache, Bytes(layers * 8192 * 2 * 2 * 128 * 2));  // 2 of 8 heads
  }
}

TEST(SplitModeTensor, TakesAnyNumberOfCardsAndReadsOnAllOfThemAtOnce) {
  const auto step = [](const char* machine, const char* runtime) {
    return evaluate(test::OnCards(llama_3_3_70b, "q4_K_M", machine, runtime).s);
  };
  const Estimate three = step("3x rtx-3090 @ epyc-rome-512gb", "llama.cpp-tensor");
  EXPECT_EQ(three.verdict, Verdict::fits_gpus);
  EXPECT_EQ(three.gpus_used, 3);
  EXPECT_LT(three.tpot.value(),
            step("2x rtx-3090 @ epyc-rome-512gb", "llama.cpp-tensor").tpot.value());
  EXPECT_LT(three.tpot.value(),
            0.7 * step("3x rtx-3090 @ epyc-rome-512gb", "llama.cpp").tpot.value());
  // Nothing goes to host memory: common/fit.cpp throws for this mode.
  EXPECT_EQ(step("1x rtx-3090", "llama.cpp-tensor").verdict, Verdict::does_not_fit);
}

/// ggml-cuda/allreduce.cu refuses cards before Volta, so data goes from card to card by copies. A
/// step of 80 layers has 160 of these.
TEST(SplitModeTensor, HandsDataOverByCopiesWhereACardHasNoAllReduce) {
  const auto start = [](const char* machine) {
    const test::OnCards c(llama_3_3_70b, "q2_K", machine, "llama.cpp-tensor");
    return exchanges(c).value();
  };
  const double handoffs = 160 * engine("llama.cpp-tensor").offload.device_handoff_s.value;
  EXPECT_GT(start("2x p40"), handoffs);
  EXPECT_GT(start("1x rtx-3090 + 1x p40"), handoffs);
  EXPECT_LT(start("2x rtx-3090 @ epyc-rome-512gb"), 0.5 * handoffs);
}

/// src/llama-arch.cpp llm_arch_supports_sm_tensor.
TEST(SplitModeTensor, IsRefusedForClassesThatItDoesNotDivide) {
  const test::OnCards latent("deepseek-ai/DeepSeek-V3", "q4_K_M", "8x h200-sxm-141gb",
                             "llama.cpp-tensor");
  EXPECT_EQ(evaluate(latent.s).reason, Reason::parallelism_unsupported);
}

/// A tied output keeps the embedding's name, so each card has all of it.
TEST(SplitModeTensor, RepeatsATiedOutput) {
  test::OnCards c("meta-llama/Llama-3.2-3B", "gguf-f16", "2x rtx-4090", "llama.cpp-tensor");
  const Plan plan = place(c.s, 1.0);
  const double table = 2.0 * 128256 * 3072, others = c.s.weights->total.real().value() - table;
  EXPECT_EQ(host_use(c.s, plan).weights.real().value(), table);
  EXPECT_NEAR(card_use(c.s, plan, 0).weights.real().value(), others / 2 + table, 1e-3 * others);
}

}  // namespace
}  // namespace headroom::model
