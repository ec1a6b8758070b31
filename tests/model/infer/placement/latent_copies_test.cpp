// Copies of the matrices that expand MLA's latent.
#include <gtest/gtest.h>

#include "hardware/catalogue.hpp"
#include "hardware/machine.hpp"
#include "model/infer/placement/placement.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// Bytes that the copies add to a card of `cards`.
Size copies(const char* model, const char* precision, const char* engine, Size cards) {
  const QuantisedModel weights = quantise(test::catalogue_model(model), scheme(precision));
  const Machine machine =
      parse_machine(std::to_string(cards) + "x h200-sxm-141gb", shipped_catalogue());
  Scenario s = test::scenario(weights, machine, engine);
  s.tensor_parallel = cards;
  Engine without = *s.runtime;
  without.weights.latent_copies = LatentCopies::none;
  const CardUse with = card_use(s, place(s, 1.0), 0);
  s.runtime = &without;
  const CardUse bare = card_use(s, place(s, 1.0), 0);
  EXPECT_EQ(with.weights, bare.weights);
  return (with.overhead_weights - bare.overhead_weights).count();
}

/// DeepSeek V2 Lite: 27 layers, 16 heads, keys and values of 128 each, a latent of 512.
TEST(LatentCopies, AreAllHeadsOfEachLayerIn16Bit) {
  constexpr Size all = Size{2} * 27 * 16 * (128 + 128) * 512;
  const char* lite = "deepseek-ai/DeepSeek-V2-Lite";
  EXPECT_EQ(copies(lite, "fp8", "vllm", 1), all);
  EXPECT_EQ(copies(lite, "fp8", "vllm", 4), all / 4);
  EXPECT_EQ(copies(lite, "bf16", "vllm", 1), 0) << "views of the weight";
  EXPECT_EQ(copies(lite, "bf16", "sglang", 1), all);
  EXPECT_EQ(copies(lite, "fp8", "sglang", 2), all / 2);
}

TEST(LatentCopies, AreOfEnginesThatRunOnLatents) {
  EXPECT_EQ(copies("deepseek-ai/DeepSeek-V2-Lite", "fp8", "vllm-0.6", 1), 0) << "expanded caches";
  EXPECT_EQ(copies("Qwen/Qwen3-8B", "fp8", "vllm", 1), 0) << "no latent";
}

}  // namespace
}  // namespace headroom::model
