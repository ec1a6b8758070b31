// Memory of the optimizer's step, of gradients during backward, and of loading.
#include "model/train/step_memory.hpp"

#include <gtest/gtest.h>

#include "tests/model/train/training_fixture.hpp"

namespace headroom::model {
namespace {

/// A step over two cards with 16-bit weights and gradients, and fp32 copies.
TrainingScenario two_cards(const Fixture& f, int zero) {
  TrainingScenario s = f.step("deepspeed");
  s.zero = zero;
  s.parallel.replicas = 2;
  s.recipe = &recipe("fp32-master");
  return s;
}

Bytes bytes_at_step(const TrainingScenario& s) {
  const TrainingEstimate e = evaluate_training(s);
  return e.at_step - e.weights - e.master - e.states;
}

// stage_1_and_2.py step: bf16 gradients, their flat copy and the fp32 one; then the fp32 one and
// torch's square roots of the second moments.
TEST(StepMemory, DeepSpeedConvertsItsPartition) {
  const Fixture f;
  const Size partition = f.model.profile.parameters / 2;
  TrainingScenario s = two_cards(f, 2);
  EXPECT_EQ(bytes_at_step(s), Bytes((2 + 2 + 4) * partition));
  s.recipe = &recipe("fp32-gradients");  // nothing is converted
  EXPECT_EQ(bytes_at_step(s), Bytes((4 + 4) * partition));
  s.zero = 1;
  EXPECT_EQ(bytes_at_step(s), Bytes((4 + 4) * partition)) << "other cards' gradients are freed";
}

TEST(StepMemory, DeepSpeedStage3StepsInGroups) {
  const Fixture f;
  const Size partition = f.model.profile.parameters / 2;
  TrainingScenario s = two_cards(f, 3);
  const Bytes buffer(2 * partition);
  EXPECT_EQ(bytes_at_step(s), buffer + Bytes((4 + 2) * partition));
  s.optimizer = &optimizer("adamw-foreach");
  EXPECT_EQ(bytes_at_step(s), buffer + Bytes((4 + 4) * partition));
  TrainingRuntime grouped = *s.runtime;
  grouped.subgroup_elements = 1000;
  s.runtime = &grouped;
  EXPECT_EQ(bytes_at_step(s), buffer + Bytes((4 + 4) * 1000));
}

/// fms-acceleration scripts/benchmarks/refs/a100_80gb.csv: 72.97 GB are allocated for 7.24 B
/// weights in 16 bit at either batch, five copies: weights, gradients, two states, square roots.
TEST(StepMemory, ForeachCopiesWhateverTheRuntime) {
  const Fixture f;
  TrainingScenario s = f.step("trainer");
  s.recipe = &recipe("pure-16bit");
  s.optimizer = &optimizer("adamw-fused");
  const Bytes fused = bytes_at_step(s);
  s.optimizer = &optimizer("adamw-foreach");
  EXPECT_EQ(bytes_at_step(s), fused + Bytes(2 * f.model.profile.parameters));
}

/// Backward makes a layer's gradient where it drops the layer's input.
TEST(StepMemory, GradientsReplaceKeptInputs) {
  const Fixture f;
  TrainingScenario s = f.step("trainer");
  s.recipe = &recipe("pure-16bit");
  s.recomputation = Recomputation::full;
  const TrainingEstimate once = evaluate_training(s);
  s.accumulated = 2;  // then the gradients of an earlier pass exist
  const TrainingEstimate twice = evaluate_training(s);
  EXPECT_LT(once.in_backward, twice.in_backward);
  EXPECT_GE(once.in_backward, twice.in_backward - std::min(once.gradients, once.activations));
  EXPECT_GT(once.in_backward, once.weights + once.states + once.gradients);
}

// stage3.py: grad_partitions_flat_buffer is made with the optimizer.
TEST(StepMemory, Stage3KeepsItsBufferOfGradients) {
  const Fixture f;
  TrainingScenario s = two_cards(f, 3);
  const TrainingEstimate kept = evaluate_training(s);
  TrainingRuntime without = *s.runtime;
  without.gradient_buffer_from = Offloads::never;
  s.runtime = &without;
  EXPECT_EQ(kept.at_forward_end, evaluate_training(s).at_forward_end + kept.gradients);
}

TEST(StepMemory, WithoutZeroInitACardLoadsAllWeights) {
  const Fixture f;
  TrainingScenario s = two_cards(f, 3);
  EXPECT_EQ(evaluate_training(s).at_load, Bytes(0));
  s.loads_whole = true;
  EXPECT_EQ(evaluate_training(s).at_load, Bytes(2 * f.model.profile.parameters));
  s.zero = 2;
  EXPECT_EQ(evaluate_training(s).at_load, Bytes(0)) << "stage 2 has all weights anyway";
}

/// Liger's backward of the gate overwrites what it kept: only the gradient of the product is new.
TEST(StepMemory, LigerOverwritesGateAndUp) {
  const Fixture f;
  TrainingScenario s = f.step("trainer");
  s.recipe = &recipe("pure-16bit");
  // 2816 rows of gate, up and down, and the hidden size 1024, in 16 bit
  EXPECT_EQ(evaluate_training(s).transient, Bytes(2 * 2048 * (3 * 2816 + 1024)));
  s.fused_kernels = true;
  EXPECT_EQ(evaluate_training(s).transient, Bytes(2 * 2048 * (2816 + 1024)));
}

/// transformers eager_attention_forward: softmax in fp32 over scores in 16 bit.
TEST(StepMemory, EagerAttentionHasGradientsOfScores) {
  const Fixture f;
  TrainingScenario s = f.step("trainer");
  s.recipe = &recipe("pure-16bit");
  s.attention = AttentionKernel::eager;
  EXPECT_EQ(evaluate_training(s).transient, Bytes(Size{16} * (4 + 2) * 2048 * 2048));
}

}  // namespace
}  // namespace headroom::model
