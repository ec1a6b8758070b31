// Consecutive training steps, and changes that would make a step fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "model/answer/training_advice.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/outcome.hpp"
#include "model/train/shape.hpp"
#include "model/train/time.hpp"
#include "tests/model/train/training_fixture.hpp"

namespace headroom::model {
namespace {

using namespace literals;

TEST(TrainingShape, AnEvaluatorForgetsNothingThatMatters) {
  const Fixture f;
  std::vector<TrainingScenario> all(16, f.step());
  all[1].batch = 4;
  all[2].sequence = 512;
  all[3].adapter = &f.adapter;
  all[4].recipe = &recipe("pure-16bit");
  all[5].recomputation = Recomputation::full;
  all[6].optimizer = &optimizer("adafactor");
  all[7].parallel.replicas = 4, all[7].zero = 3;
  all[8].parallel.tensor = 2;
  all[9].parallel.stages = 2;
  all[10].attention = AttentionKernel::eager;
  all[11].fused_kernels = true;
  all[12] = f.step("megatron");
  all[13].accumulated = 4;
  all[14].parallel.context = 2;
  all[15] = f.step("torch");
  all[15].optimizer_on_host = true;
  TrainingEvaluator evaluate;
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) {
      const TrainingEstimate fresh = evaluate_training(all[i]), again = evaluate(all[i]);
      EXPECT_EQ(fresh.peak, again.peak) << i;
      EXPECT_EQ(fresh.states, again.states) << i;
      EXPECT_EQ(fresh.activations, again.activations) << i;
      EXPECT_EQ(fresh.host, again.host) << i;
    }
}

TEST(TrainingShape, AStageWithTheFirstOnesLayersIsNoSlowerUnlessItHasTheHead) {
  const Fixture f;
  TrainingScenario s = f.step("megatron");
  const auto slower = [&](Size stages) {
    s.parallel.stages = stages;
    TrainingEvaluator evaluate;
    evaluate(s);
    std::vector<bool> all;
    for (const StageShape& stage : evaluate.shape().stages) all.push_back(!stage.is_no_slower);
    return all;
  };
  EXPECT_EQ(slower(4), (std::vector{false, false, false, true}));
  EXPECT_EQ(slower(5), (std::vector{false, true, true, true, true}));  // 1, 2, 2, 2, 1 layers
}

TEST(TrainingShape, StagesAreUnevenWhereLayersDoNotDivide) {
  const Fixture f;  // 8 layers plus embedding and head are 10 parts
  TrainingScenario s = f.step("megatron");
  s.parallel.stages = 5;
  const Size ends[] = {1, 3, 5, 7, 8};
  for (Size stage = 0; stage < 5; ++stage) {
    EXPECT_EQ(stage_of(s, stage).last, ends[stage]);
    EXPECT_EQ(stage_of(s, stage).first, stage == 0 ? 0 : ends[stage - 1]);
  }
  s.parallel.stages = 4;
  for (Size stage = 0; stage < 4; ++stage) EXPECT_EQ(stage_of(s, stage).last, 2 * stage + 2);
}

// Transformer Engine keeps the inputs of products in one byte, and two copies of each weight.
// torchao keeps both unchanged.
TEST(TrainingMatrices, KeptQuantisedByTransformerEngineAlone) {
  const Fixture f;
  TrainingScenario s = f.step("megatron");
  const TrainingEstimate plain = evaluate_training(s);
  s.matrices = &matrix_format("fp8");
  const TrainingEstimate fp8 = evaluate_training(s);
  // In 16 bit a layer keeps the outputs of two norms and the gated product. Attention keeps its own
  // output. In 8 bit each of the four takes one byte.
  const Size tokens = s.batch * s.sequence, layers = 8;
  EXPECT_EQ((plain.activations - fp8.activations).count(),
            layers * tokens * (1024 + 1024 + 2816 - 1024));
  const Size matrices = layers * (1024 * 2560 + 3 * 1024 * 2816 + 2 * 1024);
  EXPECT_EQ((fp8.scratch - plain.scratch).count(), 2 * matrices);
  TrainingScenario ao = f.step("fsdp2");
  const TrainingEstimate before = evaluate_training(ao);
  ao.matrices = &matrix_format("fp8");
  EXPECT_EQ(evaluate_training(ao).peak, before.peak);
  TrainingScenario none = f.step("trainer");
  none.matrices = &matrix_format("fp8");
  EXPECT_THROW(evaluate_training(none), ImpossibleStep);
}

TEST(TrainingAdvice, PairsWhereNoSingleChangeIsEnough) {
  const Fixture f;
  TrainingScenario s = f.step("deepspeed");
  s.batch = 8;
  const auto changes = [&](Bytes card) { return changes_that_save(s, cards(1, card)); };
  const auto singles = changes(Bytes(1));
  Bytes least = singles.front().peak;
  for (const Change& each : singles) least = std::min(least, each.peak);
  // If the best single change just fits a card, there are no pairs. With a byte less, there are.
  for (const Change& each : changes(least)) EXPECT_EQ(each.options.size(), 1u);
  const auto pairs = changes(least - Bytes(1));
  ASSERT_TRUE(pairs.front().fits);
  EXPECT_LT(pairs.front().peak, least);
  EXPECT_EQ(pairs.front().options.size(), 2u);
  EXPECT_EQ(std::ranges::count_if(pairs, &Change::fits), 5);
  EXPECT_FALSE(pairs.back().fits);
}

TEST(TrainingAdvice, PutsIdleCardsToWork) {
  const Fixture f;
  TrainingScenario s = f.step("torch");
  s.batch = 64;  // the host loads a pass faster than the cards compute it
  s.parallel.tensor = 2;
  const auto with_all = [&](int machine) {
    const auto changes = changes_that_save(s, cards(machine, Bytes(1)));
    const std::vector<StepOption> four = {{StepOption::Kind::more_replicas, 4}};
    const auto at = std::ranges::find(changes, four, &Change::options);
    return at == changes.end() ? std::nullopt : std::optional(*at);
  };
  const auto change = with_all(9);  // four pairs and one spare card
  ASSERT_TRUE(change.has_value());
  TrainingScenario wide = s;
  wide.parallel.replicas = 4;
  wide.zero = 3;
  wide.recipe = &usual_recipe(*s.runtime, 3, Trained::weights);
  EXPECT_EQ(change->peak, evaluate_training(wide).peak);
  EXPECT_LT(change->time, 0.5);  // four times the tokens
  EXPECT_FALSE(with_all(2).has_value());
}

// DeepSpeed needs a ZeRO stage, FSDP moves weights too, and neither a bf16 copy nor bitsandbytes'
// states go with DeepSpeed on the host.
TEST(TrainingAdvice, OffloadsAreThoseOfTheEngine) {
  const Fixture f;
  const auto offload_of = [&](std::string_view runtime) {
    std::vector<StepOption> found;
    for (const Change& change : changes_that_save(f.step(runtime), cards(1, Bytes(1))))
      for (const StepOption& option : change.options)
        if (option.kind == StepOption::Kind::optimizer_on_host ||
            option.kind == StepOption::Kind::all_on_host)
          found.push_back(option);
    return found;
  };
  using enum StepOption::Kind;
  EXPECT_EQ(offload_of("trainer"), std::vector<StepOption>{(StepOption{optimizer_on_host, 2})});
  EXPECT_EQ(offload_of("deepspeed"), std::vector<StepOption>{(StepOption{optimizer_on_host, 2})});
  EXPECT_EQ(offload_of("megatron"), std::vector<StepOption>{(StepOption{optimizer_on_host, 0})});
  EXPECT_EQ(offload_of("fsdp"), std::vector<StepOption>{(StepOption{all_on_host, 0})});
  const TrainingScenario s = f.step("trainer");
  const Bytes enough(evaluate_training(s).peak.count() / 4);
  for (const Change& change : changes_that_save(s, cards(1, enough))) {
    const auto has = [&](StepOption::Kind kind) {
      return std::ranges::find(change.options, kind, &StepOption::kind) != change.options.end();
    };
    EXPECT_FALSE(has(optimizer_on_host) && (has(pure_16bit) || has(optimizer_8bit)));
  }
}

TEST(TrainingAdvice, FewestReplicasAreThoseThatFitInTheRecipeOfZero3) {
  const Fixture f;
  const TrainingScenario s = f.step("trainer");
  TrainingScenario eight = s;
  eight.parallel.replicas = 8;
  eight.zero = 3;
  eight.runtime = &under_zero(*s.runtime, 3);
  eight.recipe = &usual_recipe(*s.runtime, 3, Trained::weights);
  ASSERT_NE(eight.recipe, s.recipe);
  const Bytes needed = evaluate_training(eight).peak;
  EXPECT_EQ(fewest_replicas(s, needed), 8);
  EXPECT_EQ(fewest_replicas(s, needed - Bytes(1)), 16);
}

// transformers 5.23 integrations/deepspeed.py: the Trainer hands a ZeRO stage to DeepSpeed.
TEST(TrainingRuntime, ZeroOfTheTrainerIsDeepSpeed) {
  const TrainingRuntime &trainer = training_runtime("trainer"),
                        &factory = training_runtime("llama-factory");
  EXPECT_EQ(&under_zero(trainer, 0), &trainer);
  EXPECT_EQ(&under_zero(training_runtime("fsdp"), 3), &training_runtime("fsdp"));
  const Fixture f;
  TrainingScenario ours = f.step("trainer"), theirs = f.step("deepspeed");
  ours.runtime = &under_zero(trainer, 3);
  for (TrainingScenario* s : {&ours, &theirs}) {
    s->zero = 3;
    s->parallel.replicas = 8;
    s->recipe = &usual_recipe(*s->runtime, 3, Trained::weights);
  }
  const Machine box = cards(8, Bytes(Size{80} << 30));
  const auto seconds = [&](const TrainingScenario& s) {
    TrainingEvaluator evaluate;
    const TrainingEstimate e = evaluate(s);
    const auto pace = training_pace(s.runtime->paced_as(), box.devices.front());
    return time_of_step(s, evaluate.shape(), e, box, pace).total();
  };
  EXPECT_EQ(evaluate_training(ours).peak, evaluate_training(theirs).peak);
  EXPECT_EQ(seconds(ours), seconds(theirs));
  EXPECT_EQ(under_zero(factory, 1).name, factory.name);
  EXPECT_EQ(under_zero(factory, 1).recomputation, factory.recomputation);
}

// bitsandbytes' pages are the card's until it is full, so a host needs nothing for them before.
TEST(TrainingShape, PagedStatesCountOnce) {
  const Fixture f;
  TrainingScenario s = f.step("trainer");
  s.optimizer = &optimizer("adamw-8bit");
  const TrainingEstimate plain = evaluate_training(s);
  s.optimizer = &optimizer("paged-adamw-8bit");
  const TrainingEstimate paged = evaluate_training(s);
  EXPECT_EQ(paged.states, plain.states);
  EXPECT_EQ(paged.host, Bytes(0));
}

// transformers 5.17 optimization.py: weight and gradient in fp32, the gradient's square and the
// update, for one parameter at a time. Here the largest is the embedding.
TEST(TrainingShape, AdafactorCopiesOneParameterAtATime) {
  const Fixture f;
  TrainingScenario s = f.step();
  s.optimizer = &optimizer("adafactor");
  s.recipe = &recipe("pure-16bit");
  TrainingEvaluator evaluate;
  EXPECT_EQ(evaluate(s).step, Bytes(4 * 4 * 32000 * 1024));
  s.recipe = &recipe("autocast");  // weights and gradients are in fp32 already
  EXPECT_EQ(evaluate(s).step, Bytes(2 * 4 * 32000 * 1024));
  s.adapter = &f.adapter;
  EXPECT_EQ(evaluate(s).step, Bytes(0));
}

}  // namespace
}  // namespace headroom::model
