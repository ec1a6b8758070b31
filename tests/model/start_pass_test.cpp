// What engines take for themselves at start: vLLM's own pass, AutoAWQ's fused matrices.
#include <gtest/gtest.h>

#include "hardware/catalogue.hpp"
#include "model/memory/activation.hpp"
#include "model/memory/cache_room.hpp"
#include "model/placement/placement.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using test::catalogue_model;
using test::scenario;

Machine card(std::string_view name) { return parse_machine(name, shipped_catalogue()); }

constexpr double GiB = 1073741824.0;

struct Logged {
  const char* model;
  const char* precision;
  double gib;  ///< peak of activations in the pass at start
};
/// vLLM 0.19.0 on one H100 with a context of 8192: llm-d-incubation/llm-d-planner@2d557dca
/// docs/accuracy/vllm-v0.19.0-accuracy-report.md. By vocabulary, from 32,016 to 201,088. Granite
/// there is 3.1 2B, whose shapes are those of 3.0.
constexpr Logged logged[] = {{"codellama/CodeLlama-7b-hf", "bf16", 0.77},
                             {"ibm-granite/granite-3.0-2b-base", "bf16", 0.75},
                             {"microsoft/phi-4", "bf16", 1.52},
                             {"meta-llama/Llama-3.1-8B", "bf16", 1.89},
                             {"Qwen/Qwen3-8B", "bf16", 2.21},
                             {"Qwen/Qwen2.5-7B", "bf16", 2.21},
                             {"openai/gpt-oss-20b", "mxfp4", 2.87}};

TEST(StartPass, KeepsFreeWhatVllmLogs) {
  for (const Logged& row : logged) {
    const Machine box = card("h100-sxm-80gb");
    const Weights weights = hold(catalogue_model(row.model), scheme(row.precision));
    Scenario s = scenario(weights, box, "vllm");
    s.prompt_tokens = 8191;
    s.output_tokens = 1;
    const double found = static_cast<double>(card_use(s, place(s, 1.0), 0).activations.count());
    EXPECT_NEAR(found / GiB, row.gib, 0.06 * row.gib) << row.model;
  }
}

TEST(StartPass, IsSmallerOnSmallCards) {
  // 256 sequences and 2048 tokens instead of 1024 and 8192: vLLM pull requests 12369 and 16158.
  const Weights weights = hold(catalogue_model("meta-llama/Llama-3.1-8B"), scheme("bf16"));
  const Machine small = card("rtx-4090"), large = card("h100-sxm-80gb");
  const Scenario on_small = scenario(weights, small, "vllm"),
                 on_large = scenario(weights, large, "vllm");
  EXPECT_EQ(usual_sequences(on_small), 256);
  EXPECT_EQ(usual_sequences(on_large), 1024);
  EXPECT_EQ(pass_tokens(on_small), 2048);
  EXPECT_EQ(pass_tokens(on_large), 8192);
}

TEST(StartPass, RoomForCachesDoesNotDependOnTheBatch) {
  const Weights weights = hold(catalogue_model("meta-llama/Llama-3.1-8B"), scheme("bf16"));
  const Machine box = card("l40s");
  Scenario s = scenario(weights, box, "vllm");
  s.context = 8192;
  const auto one = cache_room(s, place(s, 1.0));
  s.batch = 16;
  const auto many = cache_room(s, place(s, 1.0));
  ASSERT_TRUE(one && many);
  EXPECT_EQ(one->blocks, many->blocks);
  EXPECT_DOUBLE_EQ(one->sequences, many->sequences);
}

TEST(StartPass, FusedMatricesStandTwice) {
  // Llama 2 7B: q, k and v of 32 layers, 3 * 4096^2 each, in 4 bit with a 16-bit scale and a 4-bit
  // zero point for each 128. Falcon's are one matrix in the checkpoint.
  const double copies = 32.0 * 3 * 4096 * 4096 * (0.5 + 2.5 / 128);
  const Machine box = card("rtx-4090");
  const auto activations = [&](const char* name) {
    const Weights weights = hold(catalogue_model(name), scheme("awq-int4"));
    Scenario s = scenario(weights, box, "autoawq");
    s.prompt_tokens = s.output_tokens = 8;
    return static_cast<double>(card_use(s, place(s, 1.0), 0).activations.count());
  };
  const double beside = activations("tiiuae/falcon-7b");
  EXPECT_NEAR(activations("meta-llama/Llama-2-7b-hf") - beside, copies, 0.01 * copies);
}

}  // namespace
}  // namespace headroom::model
