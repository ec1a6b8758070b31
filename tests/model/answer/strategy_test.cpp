// Strategies: the stated memory is enough, and one MiB less is not. Maps equal the mapper's maps.
#include "model/answer/placement/strategy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hardware/units.hpp"
#include "model/answer/explain.hpp"
#include "model/describe/architecture.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using test::catalogue_model;
using test::machine;
using test::scenario;

TEST(Strategy, TheLeastGpuMemoryIsEnoughAndLessIsNot) {
  int found = 0;
  for (const char* name : {"facebook/opt-30b", "Qwen/Qwen3-32B", "openai/gpt-oss-20b"})
    for (const char* engine : {"transformers", "llama.cpp", "vllm"})
      for (bool (*wanted)(const Estimate&) :
           {static_cast<bool (*)(const Estimate&)>(fits), uses_a_gpu, is_on_gpus}) {
        const QuantisedModel w = quantise(catalogue_model(name), scheme("bf16"));
        Machine box = machine(2, 8, 32, 500);
        Scenario s = scenario(w, box, engine);
        const auto least = least_gpu_memory(s, wanted);
        if (!least) continue;
        ++found;
        // vLLM starts larger passes on cards of 70 GiB: these cards are just smaller
        for (Device& device : box.devices) set_memory(device, Bytes(Size{69} << 30));
        s.gpu_budget = *least;
        EXPECT_TRUE(wanted(evaluate(s))) << name << ' ' << engine;
        if (*least == Bytes(0)) continue;
        s.gpu_budget = *least - mebibyte;
        EXPECT_FALSE(wanted(evaluate(s))) << name << ' ' << engine;
      }
  EXPECT_GT(found, 20);
}

/// Every model of the catalogue, in 16 bit.
template <class F>
void for_each_model(F&& f) {
  int seen = 0;
  for (const EmbeddedFile& file : embedded_models()) {
    if (!file.name.ends_with(".json")) continue;
    std::string name(file.name.substr(0, file.name.size() - 5));
    if (++seen % test::stride != 0) continue;
    if (const auto at = name.find("__"); at != std::string::npos) name.replace(at, 2, "/");
    const Model& model = catalogue_model(name);
    const QuantisedModel w = quantise(model, scheme("bf16"));
    if (w.refusal.empty() && counted_only(model.architecture, model.model_type).empty()) f(w);
  }
}

TEST(Strategy, PlacementsOfASweepAreAcceleratesWholeWalkModelByModelAndBudgetByBudget) {
  // The closed form counts layers. accelerate and transformers walk every module of the model. Both
  // get the max_memory that the closed form recommends.
  Size compared = 0, written = 0, models = 0, by_transformers = 0;
  for_each_model([&](const QuantisedModel& w) {
    ++models;
    const ModuleTree tree = held_tree(w);
    const MapOptions options{.no_split = w.model->part.no_split};
    const double whole = w.total.real().value();
    for (const Size cards : {1, 2, 4})
      for (const double card_share : {0.02, 0.1, 0.3, 0.6, 1.2})
        for (const double ram_share : {0.15, 1.5}) {
          Machine box = machine(cards, 1, 1, 1);
          for (Device& device : box.devices)
            set_memory(device, Bytes((Size{3} << 29) + static_cast<Size>(whole * card_share)));
          box.host.ram = Bytes((Size{1} << 30) + static_cast<Size>(whole * ram_share));
          box.host.disk = Bytes(2 * w.total.count());
          const Scenario s = scenario(w, box, "transformers");
          const Plan plan = place(s, 1.0);
          if (!plan.feasible()) continue;
          ++compared;
          const auto made = as_map(s, tree, options);
          ASSERT_TRUE(made) << w.model->name;
          ASSERT_EQ(made->assignment, assignment_of(plan)) << w.model->name;
          ASSERT_EQ(assignment_of(*w.model, made->map), made->assignment) << w.model->name;
          if (!made->written) continue;
          ++written;
          ASSERT_EQ(infer_device_map(tree, made->memory, options), made->map) << w.model->name;
          MapOptions theirs = options;
          theirs.mapper = Mapper::transformers;
          by_transformers += assignment_of(*w.model, infer_device_map(tree, made->memory,
                                                                      theirs)) == made->assignment
                                 ? 1
                                 : 0;
        }
  });
  fmt::print("{} models, {} placements, {} written by accelerate from max_memory, {} by both\n",
             models, compared, written, by_transformers);
  EXPECT_GT(models, 150 / test::stride);
  EXPECT_GT(compared, 5000 / test::stride);
  EXPECT_GT(written, compared * 9 / 10);
  EXPECT_EQ(by_transformers, written);
}

TEST(Strategy, MapsFitAndAreThePlacementOfAnEstimate) {
  int mapped_ones = 0;
  for (const char* name : {"facebook/opt-30b", "Qwen/Qwen3-32B", "openai/gpt-oss-20b",
                           "google/gemma-2-9b", "meta-llama/Llama-3.3-70B-Instruct"})
    for (const Size cards : {0, 1, 3})
      for (const Size card_gib : {4, 24})
        for (const Policy policy : {Policy::plain, Policy::balanced}) {
          const Model& model = catalogue_model(name);
          const QuantisedModel w = quantise(model, scheme("fp16"));
          const Machine box = machine(cards, card_gib, 48, 500);
          const Scenario s = scenario(w, box, "transformers");
          const ModuleTree tree = held_tree(w);
          const MapOptions options{.no_split = model.part.no_split};
          for (const Strategy& strategy : strategies(s, tree, policy, options)) {
            if (!strategy.mapped) continue;
            ++mapped_ones;
            if (strategy.mapped->written) {
              EXPECT_EQ(strategy.mapped->map,
                        infer_device_map(
                            tree, balanced_memory(tree, strategy.mapped->memory, policy, options),
                            options));
            }
            EXPECT_TRUE(fits(strategy.explained.estimate)) << name << ' ' << strategy.name;
            for (const DeviceUse& use : strategy.explained.devices)
              EXPECT_LE(use.total.count(), use.budget.count() + 64) << name << ' ' << use.name;
            if (policy != Policy::plain) continue;
            const Estimate estimate = evaluate(strategy.scenario);
            EXPECT_EQ(estimate.verdict, strategy.explained.estimate.verdict);
            EXPECT_EQ(estimate.sure, strategy.explained.estimate.sure);
            EXPECT_EQ(estimate.layers_gpu, strategy.explained.estimate.layers_gpu);
            EXPECT_EQ(estimate.tokens_s, strategy.explained.estimate.tokens_s);
            EXPECT_EQ(strategy.mapped->assignment, assignment_of(place(strategy.scenario, 1.0)));
          }
        }
  EXPECT_GT(mapped_ones, 200);
}

TEST(Strategy, MoreOfTheGpuIsNeverSlower) {
  // Host memory is the same throughout. Only "balanced" has less.
  const Model& model = catalogue_model("facebook/opt-30b");
  const QuantisedModel w = quantise(model, scheme("fp16"));
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

TEST(Strategy, NeedsAGpuWithoutCards) {
  const Model& model = catalogue_model("facebook/opt-30b");
  const QuantisedModel w = quantise(model, scheme("fp16"));
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
