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

// Autocast copies them, and DeepSpeed's engine converts the adapters themselves.
TEST(AdapterKept, CopiesOfAutocastHaveSixteenBits) {
  for (const auto* runtime : {"llama-factory", "deepspeed", "unsloth"})
    EXPECT_EQ(a_layer(runtime, {"q_proj", "v_proj"}), 2 * 2 * (1024 + 8)) << runtime;
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
