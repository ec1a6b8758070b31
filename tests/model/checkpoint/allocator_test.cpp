// Segments of PyTorch's allocator: rules calculated by hand, and weights from vLLM's logs.
#include "model/checkpoint/allocator.hpp"

#include <gtest/gtest.h>

#include "hardware/units.hpp"
#include "model/infer/placement/placement.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

constexpr Size mib(double n) { return static_cast<Size>(n * MiB); }

TEST(Allocator, RoundsAsPyTorchDoes) {
  EXPECT_DOUBLE_EQ(allocated(1), 512);
  EXPECT_DOUBLE_EQ(allocated(mib(1)), 1 * MiB);
  // 13 tensors of 1.5 MiB leave 0.5 MiB of a 20 MiB segment. The last tensor keeps this rest. Six
  // tensors of 3 MiB leave 2 MiB, which the allocator splits off.
  EXPECT_DOUBLE_EQ(allocated(mib(1.5)), (1.5 + 0.5 / 13) * MiB);
  EXPECT_DOUBLE_EQ(allocated(mib(3)), 3 * MiB);
  EXPECT_DOUBLE_EQ(allocated(mib(10)), 10 * MiB);
  // A segment of 36 MiB keeps its remainder. A segment of 24 MiB returns 1.5 MiB.
  EXPECT_DOUBLE_EQ(allocated(mib(35)), 36 * MiB);
  EXPECT_DOUBLE_EQ(allocated(mib(22.5)), 22.5 * MiB);
  EXPECT_DOUBLE_EQ(allocated(mib(67.5)), 68 * MiB);
}

struct LoggedWeights {
  const char* model;
  const char* precision;
  const char* cards;
  const char* engine;
  Size divide;
  double gib;  ///< "Loading model weights took … GB", "Model loading took … GiB"
};
/// Weights on each card from vLLM's logs. Sources: its issues 12568, 12664 and 13061 (R1's
/// distilled 14B, with Qwen2.5's shapes), 23278 (Marlin) and 33155 (Triton).
constexpr LoggedWeights logged_weights[] = {
    {"meta-llama/Llama-3.1-8B", "bf16", "a100-sxm-80gb", "vllm-0.9", 1, 14.9888},
    {"Qwen/Qwen2.5-32B", "bf16", "2x l40s", "vllm-0.7", 2, 30.7098},
    {"Qwen/Qwen2.5-14B", "bf16", "2x rtx-4090", "vllm-0.7", 2, 13.9476},
    {"openai/gpt-oss-120b", "mxfp4", "h100-sxm-80gb", "vllm-0.10", 1, 65.9651},
    {"openai/gpt-oss-120b", "mxfp4", "h100-sxm-80gb", "vllm-0.15", 1, 64.38},
};

TEST(Allocator, WeightsTakeWhatVllmLogs) {
  for (const LoggedWeights& row : logged_weights) {
    test::OnCards run(row.model, row.precision, row.cards, row.engine);
    run.s.tensor_parallel = row.divide;
    const CardUse use = card_use(run.s, place(run.s, 1.0), 0);
    const double found = static_cast<double>((use.weights + use.overhead_weights).count()) / GiB;
    EXPECT_NEAR(found, row.gib, 0.004 * row.gib) << row.model << ' ' << row.engine;
  }
}

TEST(Allocator, KernelsPadExpertsByCard) {
  // gpt-oss has matrices of 2880 by 2880. Marlin pads them to 2944 by 3072. On four cards a part
  // has 736 rows, which is whole blocks of 32, or 768 for Marlin.
  const auto weights = [](const char* cards, const char* engine, Size divide) {
    test::OnCards run("openai/gpt-oss-20b", "mxfp4", cards, engine);
    run.s.tensor_parallel = divide;
    return card_use(run.s, place(run.s, 1.0), 0).weights.count();
  };
  const Size experts = Size{24} * 32 * 3 * 2880 * 2880 / 32 * 17;
  const auto grown = [&](double factor) { return static_cast<double>(experts) * (factor - 1); };
  const Size plain = weights("a100-sxm-80gb", "sglang", 1);
  const double biases = 2.0 * 24 * 32 * 3 * 2880;  // padded with them here
  const auto more = [&](const char* cards, const char* engine) {
    return static_cast<double>(weights(cards, engine, 1) - plain);
  };
  EXPECT_NEAR(more("a100-sxm-80gb", "vllm"), grown(2944.0 * 3072 / 2880 / 2880), biases);
  EXPECT_NEAR(more("h100-sxm-80gb", "vllm"), grown(18.0 / 17), biases);
  EXPECT_NEAR(more("h100-sxm-80gb", "vllm-0.10"), grown(2944.0 * 3072 / 2880 / 2880), biases);
  EXPECT_NEAR(more("b200-sxm-180gb", "vllm"), grown(3072.0 * 3072 / 2880 / 2880), biases);
  const Size quarter = weights("4x a100-sxm-80gb", "vllm", 4);
  const Size whole_quarter = weights("4x a100-sxm-80gb", "sglang", 4);
  const double blocks = 4 * 736.0 / 2880, tiles = 4 * 768.0 / 2880 * 3072 / 2880;
  EXPECT_NEAR(static_cast<double>(quarter - whole_quarter), (grown(tiles) - grown(blocks)) / 4,
              biases);
}

TEST(Allocator, CardsOverTheHostsBusHaveNoBuffersOfTheirOwn) {
  // Overhead of vLLM 0.7 in addition to PyTorch's memory, from logs. Two RTX 4090 need 0.25 GiB
  // each (issue 13061), and sixteen RTX 3090 need 0.20 GiB each (pull request 14447). A100 with
  // NVLink need 2.1 GiB.
  for (const auto& [cards, most] : {std::pair{"2x rtx-4090", 0.5}, {"2x h100-sxm-80gb", 3.0}}) {
    test::OnCards run("meta-llama/Llama-3.1-8B", "bf16", cards, "vllm-0.7");
    run.s.tensor_parallel = 2;
    const CardUse use = card_use(run.s, place(run.s, 1.0), 0);
    EXPECT_LT(static_cast<double>(use.context.count()) / GiB, most) << cards;
    EXPECT_GT(static_cast<double>(use.context.count()) / GiB, most > 1 ? 1.4 : 0.1);
  }
}

}  // namespace
}  // namespace headroom::model
