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

/// hardware/catalogue/all_reduce.csv, a KiB or less: NCCL on RTX PRO 6000 over PCIe, on RTX 4090
/// through shared memory and on A100 over NVLink; the kernel of vLLM 0.24 on H100.
TEST(Exchange, ARingGrowsWithTheCardsAndADirectOneDoesNot) {
  struct Row {
    const char* engine;
    LinkPath path;
    double of_two, of_four, of_eight;  // us, measured
  };
  const Row rows[] = {{"deepspeed-inference", LinkPath::bus, 6.34, 13.04, 24.57},
                      {"deepspeed-inference", LinkPath::own, 9.98, 14.54, 22.57},
                      {"vllm", LinkPath::bus, 6.34, 12.65, 23.6},
                      {"vllm", LinkPath::own, 4.29, 4.59, 4.71}};
  for (const Row& row : rows) {
    const Constant of_two{row.of_two, 0, 0, 0, {}};
    const auto start = [&](Size cards) {
      return reduce_start(engine(row.engine), of_two, row.path, cards).value();
    };
    EXPECT_DOUBLE_EQ(start(2), row.of_two);
    EXPECT_NEAR(start(4) / row.of_four, 1, 0.12) << row.engine;
    EXPECT_NEAR(start(8) / row.of_eight, 1, 0.12) << row.engine;
  }
  // As above: medians of 2, 4 and 8 cards without peer access, by the one of two cards with it.
  const Constant peers{7, 0, 0, 0, {}};
  const auto without = [&](Size cards) {
    return reduce_start(engine("vllm"), peers, LinkPath::host_memory, cards).value();
  };
  EXPECT_NEAR(without(2), 11, 0.5);
  EXPECT_NEAR(without(4), 20, 1);
  EXPECT_NEAR(without(8), 39, 1);
}

/// vLLM's own kernel serves two cards on a bus, if they read each other's memory
/// (custom_all_reduce.py). TensorRT-LLM has one for links alone. The kernel of llama.cpp goes
/// through host memory (ggml-cuda/allreduce.cu), where it runs.
TEST(Exchange, TwoCardsOnABusHaveAKernelIfTheyHavePeerAccess) {
  const auto path = [](const char* machine, const char* runtime, Size cards) {
    const test::OnCards c("meta-llama/Meta-Llama-3-8B", "bf16", machine, runtime);
    return reduce_path(*c.s.runtime, c.box, c.box.card_link(2).path, cards);
  };
  EXPECT_EQ(path("2x rtx-pro-6000", "vllm", 2), LinkPath::own);
  EXPECT_EQ(path("2x rtx-pro-6000", "sglang", 2), LinkPath::own);
  EXPECT_EQ(path("4x rtx-pro-6000", "vllm", 4), LinkPath::bus);
  EXPECT_EQ(path("2x rtx-pro-6000", "tensorrt-llm", 2), LinkPath::bus);
  EXPECT_EQ(path("2x rtx-4090", "vllm", 2), LinkPath::host_memory);
  EXPECT_EQ(path("2x rx-7900-xtx", "vllm", 2), LinkPath::bus);
  EXPECT_EQ(path("2x v100-sxm-32gb", "llama.cpp-tensor", 2), LinkPath::host_memory);
  EXPECT_EQ(path("2x p40", "llama.cpp-tensor", 2), LinkPath::bus);
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
      {"4x rtx-pro-6000 @ epyc-rome-512gb", &ParallelPolicy::reduce_over_bus_s, 22.0 / 12},
      {"4x rtx-4090 @ epyc-rome-512gb", &ParallelPolicy::reduce_over_bus_s, 1.6 * 22 / 12},
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
