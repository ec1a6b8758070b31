// Layer-by-layer placements agree with a plan's layer ranges and with a device map.
#include "model/infer/placement/assignment.hpp"

#include <gtest/gtest.h>

#include <random>

#include "model/answer/placement/strategy.hpp"
#include "model/infer/placement/device_map.hpp"
#include "model/infer/timeline/passes.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using test::catalogue_model;
using test::machine;
using test::scenario;

constexpr const char* assigned_models[] = {"meta-llama/Llama-3.3-70B-Instruct",
                                           "openai/gpt-oss-20b",
                                           "mistralai/Mixtral-8x7B-v0.1",
                                           "google/gemma-2-9b",
                                           "deepseek-ai/DeepSeek-V2-Lite",
                                           "Qwen/Qwen3-0.6B",
                                           "facebook/opt-30b"};

/// A random place for every layer.
Assignment drawn(std::mt19937& random, const Model& model, Spot cards) {
  const auto spot = [&] {
    return static_cast<Spot>(std::uniform_int_distribution<int>(on_disk, cards - 1)(random));
  };
  std::vector<Spot> layer, experts;
  for (const Layer& l : model.profile.layers) {
    layer.push_back(spot());
    experts.push_back(l.routing.experts > 0 ? spot() : layer.back());
  }
  if (experts == layer) experts.clear();
  const Spot embedding = spot(), head = model.profile.tied_head ? embedding : spot();
  return assign(std::move(layer), std::move(experts), embedding, head);
}

TEST(Assignment, MatchesTimeAndMemoryOfItsPlan) {
  std::mt19937 random(11);
  int compared = 0;
  for (const char* name : assigned_models) {
    const QuantisedModel w = quantise(catalogue_model(name), scheme("bf16"));
    for (int i = 0; i < 60; ++i) {
      const auto between = [&](Size a, Size b) {
        return std::uniform_int_distribution<Size>(a, b)(random);
      };
      const Machine box = machine(between(0, 4), between(2, 80), between(8, 200), between(10, 400));
      Scenario s = scenario(w, box, i % 2 == 0 ? "transformers" : "llama.cpp");
      s.batch = between(1, 40);
      const Plan plan = place(s, 1.0);
      if (!plan.feasible()) continue;
      if (plan.kept_on_disk > Bytes(0)) continue;  // a part of what a map gives one place
      ++compared;
      const Assignment a = assignment_of(plan);
      Scenario assigned = s;
      assigned.assignment = &a;
      const Plan same = place(assigned, 1.0);
      // A layer counts where its slowest part is, its experts.
      const Size apart = plan.host_experts.size();
      ASSERT_EQ(same.on_cards.size(), plan.on_cards.size() - apart) << name;
      ASSERT_EQ(same.on_disk.size(), plan.on_disk.size()) << name;
      const double step_s = step(s, plan).total.value();
      // They differ by one handoff where the CPU's layers meet experts that it has, too.
      const double close = apart > 0 ? 5e-3 : 1e-9;
      ASSERT_NEAR(step(assigned, same).total.value(), step_s, close * step_s) << name;
      ASSERT_NEAR(prefill(assigned, same, 512).total.value(), prefill(s, plan, 512).total.value(),
                  close * step_s);
      ASSERT_EQ(disk_use(assigned, same), disk_use(s, plan)) << name;
      ASSERT_EQ(host_use(assigned, same).total(), host_use(s, plan).total()) << name;
      for (Size card = 0; card < plan.cards; ++card)
        ASSERT_EQ(card < same.cards ? card_use(assigned, same, card).weights : Bytes(0),
                  card_use(s, plan, card).weights)
            << name;
      for (Size card = 0; card < same.cards; ++card)
        ASSERT_EQ(card_use(assigned, same, card).total(), card_use(s, plan, card).total()) << name;
    }
  }
  EXPECT_GT(compared, 200);
}

/// Tensors that an engine fuses at start exist twice for a moment. Only layers on the card count.
TEST(Assignment, FusedCopiesAreOfTheLayersOnTheCard) {
  for (const char* name : {"meta-llama/Meta-Llama-3.1-8B", "mistralai/Mixtral-8x7B-v0.1"}) {
    const QuantisedModel w = quantise(catalogue_model(name), scheme("awq-int4"));
    const Machine box = machine(2, 20, 200);
    Scenario s = scenario(w, box, "autoawq");
    s.kv_precision = &precision("fp16");
    const Plan plan = place(s, 1.0);
    ASSERT_TRUE(plan.feasible()) << name;
    const Assignment a = assignment_of(plan);
    Scenario assigned = s;
    assigned.assignment = &a;
    const Plan same = place(assigned, 1.0);
    for (Size card = 0; card < plan.cards; ++card)
      EXPECT_EQ(card_use(assigned, same, card).total(), card_use(s, plan, card).total()) << name;
  }
}

TEST(Assignment, BytesOfItsPartsAreTheModels) {
  std::mt19937 random(12);
  for (const char* name : assigned_models) {
    const QuantisedModel w = quantise(catalogue_model(name), scheme("bf16"));
    const Machine box = machine(3, 80, 500, 4000);
    Scenario s = scenario(w, box, "llama.cpp");
    for (int i = 0; i < 50; ++i) {
      const Assignment a = drawn(random, *w.model, 3);
      s.assignment = &a;
      const Plan plan = place(s, 1.0);
      Bytes sum = host_use(s, plan).weights + disk_use(s, plan);
      for (Size card = 0; card < plan.cards; ++card) sum += card_use(s, plan, card).weights;
      ASSERT_EQ(sum, w.total) << name;
    }
  }
}

TEST(Assignment, GoesThroughADeviceMapAndBack) {
  std::mt19937 random(13);
  for (const char* name : assigned_models) {
    const Model& model = catalogue_model(name);
    const QuantisedModel w = quantise(model, scheme("bf16"));
    const ModuleTree tree = held_tree(w);
    for (int i = 0; i < 20; ++i) {
      const Assignment a = drawn(random, model, 2);
      const DeviceMap map = device_map_of(tree, model, a);
      const Assignment back = assignment_of(model, map);
      ASSERT_EQ(back.layer, a.layer) << name;
      ASSERT_EQ(back.experts, a.experts) << name;
      ASSERT_EQ(back.embedding, a.embedding) << name;
      ASSERT_EQ(back.head, a.head) << name;
      // Every tensor lies below exactly one entry.
      for (const Tensor& tensor : model.part.tensors) {
        int above = 0;
        for (const auto& [path, device] : map)
          above +=
              path.empty() || tensor.name == path || tensor.name.starts_with(path + '.') ? 1 : 0;
        ASSERT_EQ(above, 1) << name << ' ' << tensor.name;
      }
    }
  }
}

TEST(Assignment, NamesOfAMapAreOfTheVersionsThatHaveThem) {
  const DeviceMap blocks = {
      {"model.embed_tokens", "0"}, {"model.layers.0", "0"}, {"model.layers.1", "cpu"}};
  const Model& mixtral = catalogue_model("mistralai/Mixtral-8x7B-v0.1");
  EXPECT_EQ(names_since(mixtral, blocks), "4.57.6");
  // Versions before 5 have block_sparse_moe.experts.0 ….
  EXPECT_EQ(names_since(mixtral, {{"model.layers.1.mlp.experts", "cpu"}}), "5.0.0");
  EXPECT_EQ(names_since(catalogue_model("facebook/opt-30b"), {{"", "0"}}), "4.46.3");
  // Earlier versions call its head embed_out.
  EXPECT_EQ(names_since(catalogue_model("EleutherAI/gpt-neox-20b"), {{"lm_head", "0"}}), "5.23");
}

TEST(Assignment, AMapThatSplitsALayerIsRefusedByName) {
  const Model& model = catalogue_model("facebook/opt-30b");
  const DeviceMap map = {{"", "0"}, {"model.decoder.layers.3.fc1", "cpu"}};
  try {
    assignment_of(model, map);
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("model.decoder.layers.3"), std::string::npos) << e.what();
  }
}

TEST(Assignment, ExpertsInHostMemoryCostTheirActiveShare) {
  // Mixtral on llama.cpp: a step reads 2 of 8 experts of a layer from host memory. Host memory
  // delivers the engine's share of 200 GB/s, the card the engine's share of 1500 GB/s.
  const QuantisedModel w = quantise(catalogue_model("mistralai/Mixtral-8x7B-v0.1"), scheme("bf16"));
  const Machine box = machine(2, 80, 200);
  Scenario s = scenario(w, box, "llama.cpp");
  std::vector<Spot> layer(32, 0), experts(32, 0);
  const Assignment all = assign(layer, {}, on_cpu, 0);
  experts[7] = on_cpu;
  const Assignment one = assign(layer, experts, on_cpu, 0);
  Machine large = machine(1, 200, 200);
  s.machine = &large;
  s.assignment = &all;
  const double before = step(s, place(s, 1.0)).total.value();
  s.assignment = &one;
  const double after = step(s, place(s, 1.0)).total.value();
  // w1, w2 and w3 of 4096 x 14336 in 2 bytes, for 8 experts.
  const double ram = s.runtime->offload.cpu_bandwidth.value * 200e9;
  const double card = s.runtime->efficiency_on(large.devices[0], w).decode_bandwidth.value * 1500e9;
  const double active = 3.0 * 4096 * 14336 * 2 * 8 * 2 / 8;
  const double on_card = s.runtime->kernels.expert_cost.value * active / card;
  const double there_and_back = 2 * s.runtime->offload.device_handoff_s.value;
  EXPECT_NEAR(after - before, active / ram - on_card + there_and_back, 1e-7);
}

}  // namespace
}  // namespace headroom::model
