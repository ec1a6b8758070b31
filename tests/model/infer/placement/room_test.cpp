// Plans that fit take no more than there is, whatever the engine and the machine.
#include <gtest/gtest.h>

#include "model/infer/placement/placement.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// Bytes of host memory that the machine has beside what the estimate's cards take of it.
Bytes host_memory(const Machine& machine, const Estimate& e) {
  const Size cards = machine.has_unified_memory() ? e.gpus_used : 0;
  return machine.host.ram - cards * e.gpu_bytes;
}

TEST(Room, WhatFitsIsNoMoreThanThereIs) {
  constexpr const char* machines[] = {"dgx-spark", "2x dgx-spark", "m4-pro-48gb",
                                      "radeon-8060s-128gb", "rtx-4090 @ desktop-ddr5-64gb"};
  constexpr const char* engines[] = {"vllm", "sglang", "tensorrt-llm", "llama.cpp", "transformers"};
  // With tables that stay on the host, recurrent layers, small experts, and none of them.
  constexpr const char* models[] = {"Qwen/Qwen3.8-Flash-Next",
                                    "deepseek-ai/DeepSeek-V4.1-Flash",
                                    "Qwen/Qwen3-Next-80B-A3B-Instruct",
                                    "Qwen/Qwen3-30B-A3B",
                                    "google/gemma-4-E4B-it",
                                    "meta-llama/Llama-3.3-70B-Instruct"};
  int fitting = 0, short_of_host = 0;
  for (const char* model : models)
    for (const char* precision : {"bf16", "nvfp4", "fp8"})
      for (const char* machine : machines)
        for (const char* engine : engines) {
          test::OnCards on(model, precision, machine, engine);
          on.s.context = 8192;
          if (on.box.devices.size() > 1) on.s.tensor_parallel = std::ssize(on.box.devices);
          const Estimate e = evaluate(on.s);
          short_of_host += e.reason == Reason::ram ? 1 : 0;
          if (!fits(e.verdict)) continue;
          ++fitting;
          const std::string what =
              std::string(model) + ' ' + precision + ' ' + machine + ' ' + engine;
          EXPECT_LE(e.gpu_bytes, largest_card_budget(on.s)) << what;
          EXPECT_LE(e.cpu_bytes, host_memory(on.box, e)) << what;
        }
  EXPECT_GT(fitting, 50);
  EXPECT_GT(short_of_host, 0);
}

}  // namespace
}  // namespace headroom::model
