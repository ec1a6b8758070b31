// Contexts beyond the usual request: what a pool of blocks holds, and the longest context of many.
#include <gtest/gtest.h>

#include "model/infer/demand.hpp"
#include "model/infer/serving.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// A pool of blocks holds what requests use. The longest request that may come is needed once.
TEST(Serving, APoolHoldsWhatRequestsUse) {
  const Model& model = test::catalogue_model("meta-llama/Meta-Llama-3-8B");
  const QuantisedModel weights = quantise(model, scheme("bf16"));
  const Machine machine = test::machine(1, 24, 64);
  for (const char* engine : {"vllm", "tensorrt-llm", "llama.cpp"}) {
    Scenario s = test::scenario(weights, machine, engine);
    s.prompt_tokens = 512;
    s.output_tokens = 128;
    const bool pool = s.runtime->serving.admission != Admission::slots;
    const Size just = serve(s, {}, Vary::batch).batch;
    s.context = 4096;
    const Size longer = serve(s, {}, Vary::batch).batch;
    ASSERT_GT(just, 8) << engine;
    if (pool)
      EXPECT_NEAR(static_cast<double>(longer), static_cast<double>(just),
                  0.15 * static_cast<double>(just))
          << engine;
    else
      EXPECT_LT(longer, just / 4) << engine;
    s.context = 0;
    s.prompt_tokens = 1000;
    s.output_tokens = 1;
    const Size fits = longest_context(s);
    s.prompt_tokens = 512;
    s.output_tokens = 128;
    s.context = fits + 2000;
    EXPECT_EQ(serve(s, {}, Vary::batch).batch, 0) << engine;
  }
}

}  // namespace
}  // namespace headroom::model
