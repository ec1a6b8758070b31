// The longest context of as many sequences as are asked for.
#include <gtest/gtest.h>

#include "model/infer/demand.hpp"
#include "model/infer/serving.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

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
