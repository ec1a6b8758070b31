// Engine builds select the units of a card that multiply. Some cards behave alike.
#include <gtest/gtest.h>

#include "model/infer/timeline/throughput.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// Peak in TFLOPS to which the engine's efficiency refers.
double peak(const char* engine, const char* card) {
  const test::OnCards c("meta-llama/Meta-Llama-3-8B", "q4_0", card, engine);
  const Device& device = c.box.devices.front();
  const double share = product_share(c.s, device, efficiency_on(c.s, device)).value;
  return card_rate(c.s, device).flops_s.value() / share / 1e12;
}

/// An RTX 3090 reaches 35.6 TFLOPS with its shaders. Its matrix units reach 142 TFLOPS with fp16
/// sums, and 284 with bytes. llama.cpp pull request 10991 reports 2777 tokens/s of Llama-3-8B
/// with matrix units. This is 44.6 TFLOPS, more than shaders can reach.
TEST(Backend, DecidesWhichUnitsMultiply) {
  EXPECT_NEAR(peak("llama.cpp", "1x rtx-3090"), 284, 2);
  EXPECT_NEAR(peak("llama.cpp-vulkan", "1x rtx-3090"), 142, 1);
  EXPECT_NEAR(peak("llama.cpp-vulkan-b4282", "1x rtx-3090"), 35.6, 0.1);
}

TEST(Backend, CardsOfAmdWithoutStackedMemoryAreAClassOfTheirOwn) {
  const auto of = [](const char* card) {
    return card_class(parse_machine(card, shipped_catalogue()).devices.front());
  };
  for (const char* card : {"rx-7900-xtx", "rx-9070-xt", "pro-w7900", "radeon-8060s-128gb"})
    EXPECT_EQ(of(card), CardClass::radeon) << card;
  for (const char* card : {"mi50", "radeon-vii", "mi300x"})
    EXPECT_EQ(of(card), CardClass::other) << card;
}

TEST(Backend, CardsOfNvidiaWithoutStackedMemoryDifferFromAdaOn) {
  const auto of = [](const char* card) {
    return card_class(parse_machine(card, shipped_catalogue()).devices.front());
  };
  for (const char* card : {"p40", "rtx-2080-ti", "rtx-3090", "rtx-a6000", "jetson-agx-orin-64gb"})
    EXPECT_EQ(of(card), CardClass::gddr) << card;
  for (const char* card : {"l4", "rtx-4090", "rtx-5090", "rtx-pro-6000"})
    EXPECT_EQ(of(card), CardClass::ada) << card;
  // Their hosts share LPDDR5X with them, whatever the capability: 11.0 and 12.1.
  for (const char* card : {"jetson-agx-thor", "gb10"}) EXPECT_EQ(of(card), CardClass::ada) << card;
  for (const char* card : {"v100-sxm-16gb", "a100-sxm-80gb"}) EXPECT_EQ(of(card), CardClass::hbm);
  for (const char* card : {"h100-pcie-80gb", "b200-sxm-180gb"})
    EXPECT_EQ(of(card), CardClass::hopper);
}

}  // namespace
}  // namespace headroom::model
