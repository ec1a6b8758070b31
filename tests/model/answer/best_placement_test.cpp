// The best placement, compared with every possible placement and with the fill orders of engines.
#include "model/answer/placement/best_placement.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/answer/placement/search.hpp"
#include "model/answer/placement/strategy.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/driver_context.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/timeline/passes.hpp"
#include "tests/model/infer/drawing.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using test::catalogue_model;
using test::machine;
using test::scenario;

constexpr const char* catalogue[] = {"meta-llama/Llama-3.3-70B-Instruct",
                                     "openai/gpt-oss-20b",
                                     "mistralai/Mixtral-8x7B-v0.1",
                                     "google/gemma-2-9b",
                                     "deepseek-ai/DeepSeek-V2-Lite",
                                     "Qwen/Qwen3-0.6B",
                                     "facebook/opt-30b",
                                     "google/gemma-3-12b-it"};

/// An engine with free handoffs between devices, because the search leaves the order of layers
/// open.
Engine without_crossings(const Engine& runtime) {
  Engine row = runtime;
  row.offload.device_handoff_s.value = 0;
  return row;
}

/// Cards of different sizes and speeds.
Machine drawn_machine(Drawing& random, Size cards, Size max_gib) {
  Machine box = machine(cards, 1, random.between(2, 4 * max_gib), random.between(1, 200));
  for (Device& device : box.devices) {
    set_memory(device, Bytes(random.between(1, max_gib * 16) << 26));
    if (random.between(0, 2) == 0)
      device.bandwidth = BytesPerSecond(1e11 * static_cast<double>(random.between(1, 30)));
  }
  return box;
}

TEST(BestPlacement, IsNotWorseThanAccelerateOrLayerOrder) {
  Drawing random{std::mt19937(21)};
  int compared = 0, found = 0, exact = 0, better = 0, close = 0;
  double widest_gap = 0;
  for (int i = 0; i < 144; ++i) {
    const Model& model = catalogue_model(catalogue[i % std::ssize(catalogue)]);
    const QuantisedModel w = quantise(model, scheme(i % 3 == 0 ? "q4_K_M" : "bf16"));
    Machine box = drawn_machine(random, random.between(0, 4), 40);
    Scenario s = scenario(w, box, i % 3 == 0 || i % 2 == 0 ? "llama.cpp" : "transformers");
    s.disk_budget = box.host.disk;  // limits what is left there: the disk holds the whole file
    box.host.disk += w.total;
    const Engine quick = without_crossings(*s.runtime);
    const bool crosses = i % 4 == 3;
    if (!crosses) s.runtime = &quick;
    s.batch = random.between(1, 3) == 1 ? random.between(1, 64) : 1;
    s.prompt_tokens = random.between(1, 8000);
    if (evaluate(s).verdict == Verdict::refused) continue;
    const auto best = best_placement(s);
    std::vector<std::optional<Placed>> others = {in_order(s, Order::first_layers),
                                                 in_order(s, Order::last_layers)};
    const Plan plan = place(s, 1.0);
    if (plan.feasible()) others.push_back(placed_at(s, assignment_of(plan)));
    if (const auto made = as_map(s, held_tree(w), {.no_split = model.part.no_split}))
      others.push_back(placed_at(s, made->assignment));
    for (const auto& other : others) {
      if (!other) continue;
      ASSERT_TRUE(best) << model.name;
      ASSERT_LE(best->placed.step.value(), other->step.value() * (1 + 1e-12)) << model.name;
      if (best->placed.step.value() < other->step.value() * 0.999) ++better;
      ++compared;
    }
    if (!best) continue;
    ASSERT_GE(best->placed.step.value(), best->bound.value() * (1 - 1e-9)) << model.name;
    if (crosses) continue;
    ++found;
    exact += best->exact ? 1 : 0;
    close += best->gap() < 0.002 ? 1 : 0;
    widest_gap = std::max(widest_gap, best->gap());
  }
  fmt::print("{} comparisons, better in {}; {} of {} exact, widest gap {:.2f} %\n", compared,
             better, exact, found, 100 * widest_gap);
  EXPECT_GT(compared, 150);
  EXPECT_GT(exact, 78);
  // The bound of one drawn machine is loose: a mixture with a batch of 51 on three unequal cards.
  EXPECT_GE(close, found - 1);
  EXPECT_LT(widest_gap, 0.05);
}

/// The shortest step over every assignment of a small model.
double brute_force(const Scenario& s, Spot cards) {
  const std::size_t layers = s.weights->layer.size();
  const Profile& profile = s.weights->model->profile;
  const bool apart = s.runtime->offload.offloads_experts && profile.routing.experts > 0;
  const std::size_t digits = layers * (apart ? 2 : 1) + 2;
  const Size radix = cards + 2;
  Size all = 1;
  for (std::size_t i = 0; i < digits; ++i) all *= radix;
  double least = std::numeric_limits<double>::infinity();
  for (Size n = 0; n < all; ++n) {
    Size rest = n;
    const auto spot = [&] {
      const Size digit = rest % radix;
      rest /= radix;
      return static_cast<Spot>(digit - 2);
    };
    std::vector<Spot> layer, experts;
    for (std::size_t i = 0; i < layers; ++i) layer.push_back(spot());
    if (apart)
      for (std::size_t i = 0; i < layers; ++i) experts.push_back(spot());
    if (experts == layer) experts.clear();
    const Spot embedding = spot(), head = spot();
    if (s.runtime->offload.input_on_cpu && embedding != on_cpu) continue;
    if (!s.runtime->offload.input_on_cpu && profile.tied_head && embedding != head) continue;
    if (const auto placed = placed_at(s, assign(layer, experts, embedding, head)))
      least = std::min(least, placed->step.value());
  }
  return least;
}

/// A small model of the same architecture: 4 layers, of two kinds if the architecture has them.
const Model& drawn_model(int which) {
  static const Model models[] = {
      make_model("small llama",
                 parse_config(R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 4, "num_attention_heads": 16,
  "num_key_value_heads": 4, "vocab_size": 32000, "max_position_embeddings": 4096,
  "rms_norm_eps": 1e-5, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})",
                              "llama.json"),
                 "test"),
      make_model("small mixtral",
                 parse_config(R"({"architectures": ["MixtralForCausalLM"], "model_type": "mixtral",
  "hidden_size": 512, "intermediate_size": 1792, "num_hidden_layers": 2, "num_attention_heads": 8,
  "num_key_value_heads": 2, "vocab_size": 32000, "max_position_embeddings": 4096,
  "num_local_experts": 8, "num_experts_per_tok": 2, "rms_norm_eps": 1e-5,
  "tie_word_embeddings": false, "torch_dtype": "bfloat16"})",
                              "mixtral.json"),
                 "test"),
      make_model("small gemma",
                 parse_config(R"({"architectures": ["Gemma2ForCausalLM"], "model_type": "gemma2",
  "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 4, "num_attention_heads": 8,
  "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 64000, "sliding_window": 256,
  "max_position_embeddings": 8192, "tie_word_embeddings": true, "torch_dtype": "bfloat16"})",
                              "gemma.json"),
                 "test")};
  return models[which];
}

TEST(BestPlacement, EqualsTheBestOfAllPlacements) {
  Drawing random{std::mt19937(22)};
  int feasible = 0, prefetched = 0;
  for (int i = 0; i < 150; ++i) {
    const QuantisedModel w = quantise(drawn_model(i % 3), scheme("bf16"));
    const Size cards = random.between(0, i % 3 == 1 ? 1 : 2);
    Machine box = machine(cards, 1, 1, 1);
    const bool crosses = i % 5 == 4;
    const Engine& own = engine(i % 2 == 0 ? "transformers" : "llama.cpp");
    Engine row = crosses ? own : without_crossings(own);
    row.offload.prefetches = i % 4 == 2;
    Scenario s = scenario(w, box, row.name);
    s.runtime = &row;
    s.batch = i % 5 == 0 ? 33 : 1;
    s.prompt_tokens = random.between(1, 900);
    // The memory fits the working memory of a pass, but only a part of the weights.
    const Size work = Uses(s).working_memory().count() + (Size{12} << 20);
    for (Device& device : box.devices) {
      const Size beside = driver_context(row, device).count() + work;
      set_memory(device, Bytes(beside + random.between(0, w.total.count())));
      if (random.between(0, 1) == 0) device.bandwidth = BytesPerSecond(3e11);
    }
    box.host.ram = Bytes(static_cast<Size>(row.memory.host_bytes.value) + work +
                         random.between(0, w.total.count()));
    s.disk_budget = Bytes(random.between(0, w.total.count()));
    const double least = brute_force(s, static_cast<Spot>(cards));
    const auto best = best_placement(s);
    ASSERT_EQ(best.has_value(), std::isfinite(least))
        << w.model->name << ' ' << row.name << ' ' << i;
    if (!best) continue;
    ++feasible;
    prefetched += row.offload.prefetches ? 1 : 0;
    EXPECT_LE(best->bound.value(), least * (1 + 1e-9))
        << w.model->name << ' ' << row.name << ' ' << i;
    if (crosses) continue;
    EXPECT_TRUE(best->exact) << w.model->name << ' ' << row.name << ' ' << i;
    EXPECT_NEAR(best->placed.step.value(), least, 1e-9 * least)
        << w.model->name << ' ' << row.name << ' ' << i;
  }
  EXPECT_GT(feasible, 60);
  EXPECT_GT(prefetched, 10);
}

}  // namespace
}  // namespace headroom::model
