// Random arrivals at an engine that serves one request at a time.
#include <gtest/gtest.h>

#include "model/infer/estimate.hpp"
#include "model/infer/queue.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

// M/D/1: mean wait = load / (2 (1 - load)) of the service.
TEST(Queue, AnEngineWithoutContinuousBatchingServesOneAtATime) {
  const Model& model = test::catalogue_model("Qwen/Qwen3-0.6B");
  const QuantisedModel weights = quantise(model, scheme("bf16"));
  const Machine machine = test::machine(1, 24, 64);
  Scenario s = test::scenario(weights, machine, "transformers");
  s.prompt_tokens = s.output_tokens = 100;
  s.batch = 8;
  Queue queue(s, s.batch);
  s.batch = 1;
  const double service = evaluate(s).total.value();
  EXPECT_NEAR(queue.capacity(), 1 / service, 1e-9 / service);
  const InFlight half = queue.at({.requests_s = 0.5 / service});
  EXPECT_NEAR(half.total.value(), 1.5 * service, 0.01 * service);
}

}  // namespace
}  // namespace headroom::model
