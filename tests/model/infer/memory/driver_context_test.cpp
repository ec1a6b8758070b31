// Contexts of the driver take more of cards with more threads.
#include "model/infer/memory/driver_context.hpp"

#include <gtest/gtest.h>

#include "hardware/catalogue.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

Device card(const char* name) { return parse_machine(name, shipped_catalogue()).devices[0]; }

/// NVIDIA, CUDA C++ programming guide, "Maximum number of resident threads per SM".
TEST(DriverContext, ThreadsAreThoseOfTheComputeCapability) {
  EXPECT_EQ(card("gtx-1650").resident_threads(), 14 * 1024);
  EXPECT_EQ(card("rtx-3090").resident_threads(), 82 * 1536);
  EXPECT_EQ(card("rtx-5090").resident_threads(), 170 * 1536);
  EXPECT_EQ(card("v100-sxm-32gb").resident_threads(), 80 * 2048);
  EXPECT_EQ(card("h100-sxm-80gb").resident_threads(), 132 * 2048);
  EXPECT_EQ(card("rx-7900-xtx").resident_threads(), 0);
}

/// Memory taken before a model is loaded, by lists of devices (tests/accuracy/llama_breakdown.csv):
/// a GTX 1650 Ti has 61 MiB, an RTX 3060 113, an RTX 3090 264, an RTX 5090 521.
TEST(DriverContext, LargerCardsTakeMoreAsListsOfDevicesShow) {
  const Engine& llama = engine("llama.cpp");
  const auto more = [&](const char* large, const char* small) {
    const auto bytes = driver_context(llama, card(large)) - driver_context(llama, card(small));
    return static_cast<double>(bytes.count()) / (1 << 20);
  };
  EXPECT_NEAR(more("rtx-5090", "rtx-3090"), 521 - 264, 30);
  EXPECT_NEAR(more("rtx-3090", "rtx-3060-12gb"), 264 - 113, 20);
  EXPECT_NEAR(more("rtx-3060-12gb", "gtx-1650-ti-laptop"), 113 - 61, 10);
}

TEST(DriverContext, UnknownThreadsAndOtherBackEndsHaveTheConstant) {
  const Engine& llama = engine("llama.cpp");
  EXPECT_EQ(context_of_threads(llama, card("rx-7900-xtx")), 0);
  EXPECT_EQ(context_of_threads(engine("llama.cpp-vulkan"), card("rtx-5090")), 0);
  EXPECT_EQ(context_of_threads(engine("vllm"), card("rtx-5090")), 0);
  EXPECT_EQ(static_cast<double>(driver_context(llama, card("rx-7900-xtx")).count()),
            static_cast<double>(static_cast<Size>(llama.memory.context_bytes.value)));
}

TEST(DriverContext, IsNeverBelowZero) {
  Engine least = engine("llama.cpp");
  least.memory.context_bytes.value = 0;
  EXPECT_EQ(driver_context(least, card("gtx-1650")), Bytes(0));
}

}  // namespace
}  // namespace headroom::model
