// A base in 4 bit whose other weights PEFT raises to fp32, and what its layers pass on then.
#include <gtest/gtest.h>

#include "tests/model/train/training_fixture.hpp"

namespace headroom::model {
namespace {

struct Qlora {
  Fixture f;
  QuantisedModel base;
  TrainingScenario s;
  explicit Qlora(std::string_view recipe_name, std::string_view scheme = "nf4")
      : base(frozen_base(f.model, training_runtime("trainer"), scheme)), s(f.step()) {
    s.base = &base;
    s.adapter = &f.adapter;
    s.recipe = &recipe(recipe_name);
    s.recomputation = Recomputation::full;
  }
};

// Embedding and head of 32,000 rows, and 17 norms, of 1,024 elements each.
constexpr Size outside_quantised_layers = (2 * 32000 + 17) * 1024;

TEST(PreparedBase, WhatHasNo4BitsIsInFp32) {
  const TrainingEstimate plain = evaluate_training(Qlora("pure-16bit").s);
  EXPECT_EQ(evaluate_training(Qlora("raised").s).weights - plain.weights,
            Bytes(2 * outside_quantised_layers));
  EXPECT_EQ(evaluate_training(Qlora("raised-norms").s).weights, plain.weights);
}

// A layer's input, rotary tables and gradients of what it passes on have 4 bytes an element, not 2.
TEST(PreparedBase, LayersPassOnFp32) {
  const TrainingEstimate plain = evaluate_training(Qlora("pure-16bit").s);
  const TrainingEstimate norms = evaluate_training(Qlora("raised-norms").s);
  const TrainingEstimate all = evaluate_training(Qlora("raised").s);
  EXPECT_EQ(norms.transient, 2 * plain.transient);
  EXPECT_EQ(all.transient, norms.transient);
  constexpr Size inputs = 8 * 2048 * 1024, tables = 2 * 2048 * 64;
  EXPECT_EQ(norms.activations - plain.activations, Bytes(2 * (inputs + tables)));
  // Autocast's 16-bit copy of the head, which its input's gradient needs.
  EXPECT_EQ(all.activations - norms.activations, Bytes(2 * 32000 * 1024));
}

TEST(PreparedBase, ProgramsDecideWhetherPeftPreparesIt) {
  const auto usual = [](std::string_view runtime, Trained what) {
    return usual_recipe(training_runtime(runtime), 0, what).name;
  };
  EXPECT_EQ(usual("trainer", Trained::adapters_over_quantised), "raised");
  EXPECT_EQ(usual("torch", Trained::adapters_over_quantised), "raised");
  EXPECT_EQ(usual("trainer", Trained::adapters), "pure-16bit");
  for (const auto* runtime : {"llama-factory", "unsloth", "deepspeed", "torchtune", "fsdp"})
    EXPECT_EQ(usual(runtime, Trained::adapters_over_quantised), "pure-16bit") << runtime;
}

// Without mixed precision queries, keys, values and attention's result stay in fp32, too.
TEST(PreparedBase, WithoutMixedPrecisionAttentionIsInFp32) {
  const auto kept = [](std::string_view recipe_name) {
    Qlora run(recipe_name);
    run.s.recomputation = Recomputation::none;
    return evaluate_training(run.s).attention;
  };
  constexpr Size more = 8 * 2048 * 2 * (2 * 1024 + 2 * 256);
  EXPECT_GT(kept("raised-fp32") - kept("raised"), Bytes(more / 2));
  EXPECT_LT(kept("raised-fp32") - kept("raised"), Bytes(2 * more));
}

// LLM.int8's products keep their inputs, each once: two norms' results and down_proj's input. The
// kernel of attention keeps its result, which o_proj reads, anyway.
TEST(PreparedBase, LayersOf8BitsKeepTheirInputs) {
  const auto kept = [](std::string_view recipe_name, std::string_view scheme) {
    Qlora run(recipe_name, scheme);
    run.s.recomputation = Recomputation::none;
    return evaluate_training(run.s).activations;
  };
  constexpr Size inputs = 8 * 2048 * (2 * 1024 + 2816);
  EXPECT_EQ(kept("pure-16bit", "int8") - kept("pure-16bit", "nf4"), Bytes(2 * inputs));
  EXPECT_EQ(kept("raised", "int8") - kept("raised", "nf4"), Bytes(4 * inputs));
}

TEST(PreparedBase, NothingElseIsPrepared) {
  Qlora none("raised");
  none.s.base = nullptr;
  EXPECT_THROW(evaluate_training(none.s), ImpossibleStep);
  Qlora shared("raised");
  shared.s.parallel.replicas = 2;
  shared.s.zero = 2;
  shared.s.runtime = &under_zero(*shared.s.runtime, 2);
  EXPECT_THROW(evaluate_training(shared.s), ImpossibleStep);
  shared.s.recipe = &recipe("pure-16bit");
  EXPECT_NO_THROW(evaluate_training(shared.s));
  Qlora eight("pure-16bit", "int8");
  eight.s.parallel.replicas = 2;
  eight.s.zero = 3;
  eight.s.runtime = &under_zero(*eight.s.runtime, 3);
  EXPECT_THROW(evaluate_training(eight.s), ImpossibleStep);
}

}  // namespace
}  // namespace headroom::model
