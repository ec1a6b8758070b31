// Inputs that adapters keep, each module by itself or several in one kernel.
#include "model/train/adapter_kept.hpp"

#include <gtest/gtest.h>

#include "tests/model/train/training_fixture.hpp"

namespace headroom::model {
namespace {

/// Bytes a token of one of the fixture's eight layers, with adapters of rank 8.
double a_layer(std::string_view runtime, std::vector<std::string> targets, bool dora = false) {
  const Fixture f;
  const Adapter adapter =
      adapt(f.model, {.rank = 8, .targets = std::move(targets), .magnitudes = dora});
  TrainingScenario s = f.step(runtime);
  s.adapter = &adapter;
  s.recipe = &usual_recipe(*s.runtime, s.zero, trained_by(s));
  return adapter_kept(s, false) / 8;
}

// 1024 elements go into each matrix of attention, and 2816 into down_proj.
TEST(AdapterKept, ModulesKeepTheirInputsAndRows) {
  EXPECT_EQ(a_layer("torch", {"q_proj", "v_proj"}), 2 * 4 * (1024 + 8));
  EXPECT_EQ(a_layer("torch", {"down_proj"}), 4 * (2816 + 8));
}

// Autocast copies what PEFT made fp32.
TEST(AdapterKept, CopiesOfAutocastHaveSixteenBits) {
  for (const auto* runtime : {"llama-factory", "unsloth"})
    EXPECT_EQ(a_layer(runtime, {"q_proj", "v_proj"}), 2 * 2 * (1024 + 8)) << runtime;
}

// DeepSpeed's engine converts the adapters themselves, and torchtune's are in 16 bit.
TEST(AdapterKept, WithoutAConversionAnInputIsKeptOnce) {
  for (const auto* runtime : {"deepspeed", "torchtune", "megatron"}) {
    EXPECT_EQ(a_layer(runtime, {"q_proj", "v_proj"}), 2 * (1024 + 2 * 8)) << runtime;
    EXPECT_EQ(a_layer(runtime, {"gate_proj", "up_proj"}), 2 * (1024 + 2 * 8)) << runtime;
    EXPECT_EQ(a_layer(runtime, {"v_proj", "o_proj"}), 2 * (2 * 1024 + 2 * 8)) << runtime;
  }
  // Each module drops elements of its own copy.
  EXPECT_EQ(a_layer("litgpt", {"q_proj", "v_proj"}), 2 * (2 * (1024 + 8) + 1024));
}

/// As a_layer() of queries and values over a base in 4 bit.
double over_4_bit(std::string_view runtime, std::string_view recipe_name) {
  const Fixture f;
  const QuantisedModel base = frozen_base(f.model, training_runtime(runtime));
  TrainingScenario s = f.step(runtime);
  s.base = &base;
  s.adapter = &f.adapter;
  s.recipe = &recipe(recipe_name);
  return adapter_kept(s, false) / 8;
}

// Layers of bitsandbytes leave PEFT's conversion to autocast.
TEST(AdapterKept, LayersOfFourBitsConvertOnceAtMost) {
  EXPECT_EQ(over_4_bit("llama-factory", "pure-16bit"), 2 * (1024 + 2 * 8));
  EXPECT_EQ(over_4_bit("trainer", "raised"), 2 * 2 * (1024 + 8));
  EXPECT_EQ(over_4_bit("trainer", "raised-fp32"), 4 * (1024 + 2 * 8));
  EXPECT_EQ(over_4_bit("trainer", "pure-16bit"), 2 * 4 * (1024 + 8));
}

TEST(AdapterKept, AKernelOfSeveralModulesKeepsOneInput) {
  EXPECT_EQ(a_layer("unsloth", {"q_proj", "k_proj", "v_proj"}), 2 * 1024);
  EXPECT_EQ(a_layer("unsloth", {"o_proj"}), 2 * 1024);
  EXPECT_EQ(a_layer("unsloth", {"gate_proj", "up_proj", "down_proj"}), 2 * 1024);
  EXPECT_EQ(a_layer("unsloth", {"all-linear"}), 3 * 2 * 1024);
}

TEST(AdapterKept, AMissingModuleOrALengthKeepsTheOthersApart) {
  EXPECT_EQ(a_layer("unsloth", {"q_proj", "v_proj"}),
            a_layer("llama-factory", {"q_proj", "v_proj"}));
  EXPECT_EQ(a_layer("unsloth", {"q_proj", "v_proj", "o_proj"}),
            a_layer("llama-factory", {"q_proj", "v_proj"}) + 2 * 1024);
  EXPECT_EQ(a_layer("unsloth", {"o_proj"}, true), a_layer("llama-factory", {"o_proj"}, true));
}

}  // namespace
}  // namespace headroom::model
