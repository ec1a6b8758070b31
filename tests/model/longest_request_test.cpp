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

/// As many sequences as are asked for have the context, each of them.
TEST(Serving, TheLongestContextIsOfAllWhoAsk) {
  const Model& model = test::catalogue_model("meta-llama/Meta-Llama-3-8B");
  const QuantisedModel weights = quantise(model, scheme("bf16"));
  const Machine machine = test::machine(1, 40, 64);
  for (const char* engine : {"vllm", "llama.cpp"}) {
    Scenario s = test::scenario(weights, machine, engine);
    Target target;
    target.users = 10;
    target.any_batch = true;
    const Serving found = serve(s, target, Vary::context);
    EXPECT_EQ(machines_needed(found, s, target), 1) << engine;
    s.batch = 10;
    const Serving stated = serve(s, {}, Vary::context);
    EXPECT_GT(stated.context, 0) << engine;
    EXPECT_EQ(found.context, stated.context) << engine;
    EXPECT_EQ(found.users_each, 10) << engine;
    s.batch = 1;
    target.users = 0;
    target.requests_s = 0.5;
    const Serving at_rate = serve(s, target, Vary::context);
    EXPECT_EQ(machines_needed(at_rate, s, target), 1) << engine;
    EXPECT_GT(at_rate.context, 1000) << engine;
    EXPECT_LE(at_demand(s, at_rate, target, 1).slowest->load, 1.001 * target.load_factor) << engine;
  }
}

}  // namespace
}  // namespace headroom::model
