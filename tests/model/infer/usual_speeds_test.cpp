// The least speeds of a demand that states none.
#include <gtest/gtest.h>

#include "model/infer/serving.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// One sequence may be slower than each of several may be. Limits that are stated replace both.
TEST(Serving, UsualSpeedsHoldWhereNoneIsStated) {
  Target target;
  EXPECT_FALSE(target.tpot_limit(1)) << "nothing was asked for";
  target.usual = usual_tpot;
  EXPECT_EQ(target.tpot_limit(1), Seconds(1));
  EXPECT_EQ(target.tpot_limit(2), Seconds(0.2));
  Target random = target, stated = target, slowest = target;
  random.requests_s = 1;
  EXPECT_EQ(random.tpot_limit(1), Seconds(0.2)) << "others may come";
  stated.tpot = Seconds(30);
  EXPECT_EQ(stated.tpot_limit(2), Seconds(30));
  slowest.late.tpot_p95 = 0.5;
  EXPECT_FALSE(slowest.tpot_limit(2));
}

/// A card that is slow enough for one sequence alone takes no second one; a faster one shares.
TEST(Serving, UsualSpeedsBoundTheBatch) {
  const Model& model = test::catalogue_model("Qwen/Qwen3-0.6B");
  const QuantisedModel weights = quantise(model, scheme("bf16"));
  Machine machine = test::machine(1, 80, 64);
  const Scenario s = test::scenario(weights, machine, "vllm");
  Target target;
  target.usual = usual_tpot;
  const auto with_step = [&](double seconds) {
    for (int i = 0; i < 20; ++i)
      machine.devices[0].bandwidth =
          (evaluate(s).tpot.value() / seconds) * machine.devices[0].bandwidth;
    return serve(s, target, Vary::batch);
  };
  const Serving alone = with_step(0.5);
  EXPECT_GT(alone.service.tpot, Seconds(0.2));
  EXPECT_EQ(alone.batch, 1);
  EXPECT_EQ(alone.next.miss, Miss::tpot);
  const Serving shared = with_step(0.02);
  EXPECT_GT(shared.batch, 1);
  EXPECT_LE(shared.service.tpot, Seconds(0.2));
  const Serving too_slow = with_step(3);
  EXPECT_EQ(too_slow.replicas, 0);
  EXPECT_EQ(too_slow.next.miss, Miss::tpot);
}

}  // namespace
}  // namespace headroom::model
