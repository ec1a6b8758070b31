// Strategies: what is said to be needed is enough and not a MiB more; maps are the mapper's.
#include "model/strategy.hpp"

#include <gtest/gtest.h>

#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using test::catalogue_model;
using test::machine;
using test::scenario;

constexpr Bytes mebibyte{Size{1} << 20};

TEST(Strategy, TheLeastGpuMemoryIsEnoughAndLessIsNot) {
  int found = 0;
  for (const char* name : {"facebook/opt-30b", "Qwen/Qwen3-32B", "openai/gpt-oss-20b"})
    for (const char* engine : {"transformers", "llama.cpp", "vllm"})
      for (const auto wanted : {runs, uses_a_gpu, is_on_gpus}) {
        const Weights w = hold(catalogue_model(name), scheme("bf16"));
        Machine box = machine(2, 8, 32, 500);
        Scenario s = scenario(w, box, engine);
        const auto least = least_gpu_memory(s, wanted);
        if (!least) continue;
        ++found;
        for (Device& device : box.devices) device.memory = Bytes(Size{1} << 50);
        s.gpu_budget = *least;
        EXPECT_TRUE(wanted(evaluate(s))) << name << ' ' << engine;
        if (*least == Bytes(0)) continue;
        s.gpu_budget = *least - mebibyte;
        EXPECT_FALSE(wanted(evaluate(s))) << name << ' ' << engine;
      }
  EXPECT_GT(found, 20);
}

TEST(Strategy, MapsAreWhatAccelerateMakesOfTheirMaxMemoryAndFit) {
  int mapped_ones = 0;
  for (const char* name : {"facebook/opt-30b", "Qwen/Qwen3-32B", "openai/gpt-oss-20b",
                           "google/gemma-2-9b", "meta-llama/Llama-3.3-70B-Instruct"})
    for (const Size cards : {0, 1, 2, 3})
      for (const Size card_gib : {4, 8, 24, 80}) {
        const Model& model = catalogue_model(name);
        const Weights w = hold(model, scheme("fp16"));
        const Machine box = machine(cards, card_gib, 48, 500);
        const Scenario s = scenario(w, box, "transformers");
        const ModuleTree tree = held_tree(w);
        const MapOptions options{.no_split = model.part.no_split};
        for (const Strategy& strategy : strategies(s, tree, Policy::plain, options)) {
          if (!strategy.mapped) continue;
          ++mapped_ones;
          EXPECT_EQ(strategy.mapped->map, infer_device_map(tree, strategy.mapped->memory, options));
          EXPECT_EQ(strategy.scenario.assignment, &strategy.mapped->assignment);
          EXPECT_TRUE(runs(strategy.explained.estimate)) << name << ' ' << strategy.name;
          for (const DeviceUse& use : strategy.explained.devices)
            EXPECT_LE(use.total.count(), use.budget.count() + 64) << name << ' ' << use.name;
        }
      }
  EXPECT_GT(mapped_ones, 200);
}

TEST(Strategy, MoreOfTheGpuIsNeverSlower) {
  // Same host memory throughout: only "balanced" has less.
  const Model& model = catalogue_model("facebook/opt-30b");
  const Weights w = hold(model, scheme("fp16"));
  const Machine box = machine(1, 24, 100);
  const Scenario s = scenario(w, box, "transformers");
  double before = 0;
  for (const Strategy& strategy :
       strategies(s, held_tree(w), Policy::plain, {.no_split = model.part.no_split})) {
    if (!strategy.feasible || strategy.name == "balanced" || strategy.name == "CPU and disk only")
      continue;
    EXPECT_GE(strategy.explained.estimate.tokens_s, before) << strategy.name;
    before = strategy.explained.estimate.tokens_s;
  }
  EXPECT_GT(before, 0);
}

TEST(Strategy, WithoutCardsTheGpuIsWhatIsNeeded) {
  const Model& model = catalogue_model("facebook/opt-30b");
  const Weights w = hold(model, scheme("fp16"));
  const Machine box = machine(0, 0, 100);
  const auto all = strategies(scenario(w, box, "transformers"), held_tree(w), Policy::plain,
                              {.no_split = model.part.no_split});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].feasible);
  EXPECT_FALSE(all[1].feasible);
  EXPECT_EQ(all[1].needed_of, Reason::gpu_memory);
  EXPECT_GT(all[1].needed, w.total);
  EXPECT_LT(all[1].needed.count(), 11 * w.total.count() / 10);
}

}  // namespace
}  // namespace headroom::model
