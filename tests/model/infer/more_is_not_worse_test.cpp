// More memory, more bandwidth or a faster bus never makes an answer worse. Drawn models, machines
// and engines have one of them doubled: the tokens a second and the sequences that run at once do
// not fall. Cards have a test of their own (tests/cli/more_cards_test.cpp), as answers may say why.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "model/answer/advice.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/engine/loaded_weights.hpp"
#include "model/engine/runs_on.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model::more_is_not_worse {
namespace {

constexpr const char* models[] = {"Qwen/Qwen3-8B",        "Qwen/Qwen3-32B",
                                  "Qwen/Qwen3-30B-A3B",   "openai/gpt-oss-20b",
                                  "openai/gpt-oss-120b",  "google/gemma-3-27b-it",
                                  "microsoft/phi-2",      "meta-llama/Llama-3.3-70B-Instruct",
                                  "Qwen/Qwen3.6-27B",     "mistralai/Mixtral-8x7B-v0.1",
                                  "Qwen/Qwen3-235B-A22B", "Qwen/Qwen3.8-Flash-Next"};
constexpr const char* machines[] = {"rtx-4060",
                                    "rtx-4090",
                                    "2x rtx-3090",
                                    "1x rtx-4090 + 1x rtx-3060-12gb",
                                    "4x rtx-4090 @ epyc-rome-512gb",
                                    "h100-sxm-80gb",
                                    "2x a100-sxm-40gb",
                                    "8x h200-sxm-141gb",
                                    "m4-max-64gb",
                                    "dgx-spark"};

/// One thing of a machine, twice as large or as fast.
struct Doubled {
  const char* name;
  void (*change)(Machine&);
};
constexpr Doubled doubled[] = {
    {"memory of the cards",
     [](Machine& m) {
       for (Device& card : m.devices)
         if (!card.unified_memory) set_memory(card, 2 * card.memory);
     }},
    {"bandwidth of the cards",
     [](Machine& m) {
       for (Device& card : m.devices) card.bandwidth = 2.0 * card.bandwidth;
     }},
    {"RAM", [](Machine& m) { m.host.ram = 2 * m.host.ram; }},
    {"bandwidth of the RAM", [](Machine& m) { m.host.ram_bandwidth = 2.0 * m.host.ram_bandwidth; }},
    {"bus",
     [](Machine& m) {
       for (Device& card : m.devices) card.host_bus = 2.0 * card.host_bus;
       m.host.host_bus = 2.0 * m.host.host_bus;
     }},
    {"links of the cards", [](Machine& m) {
       for (Device& card : m.devices) card.link = 2.0 * card.link;
       m.host.card_link = 2.0 * m.host.card_link;
     }}};

struct Drawn {
  const Engine* engine = nullptr;
  const QuantisedModel* weights = nullptr;
  Machine machine;
  Size batch = 1;
  std::string words;
};

class Draws {
  template <class T>
  auto one_of(const T& all) {
    return all[random_() % std::size(all)];
  }

 public:
  std::optional<Drawn> next() {
    const char *model_name = one_of(models), *machine_name = one_of(machines);
    Drawn drawn{.machine = parse_machine(machine_name, shipped_catalogue()), .words = {}};
    const std::span<const Engine> all = engines();
    drawn.engine = &all[random_() % all.size()];
    constexpr Size batches[] = {1, 1, 8, 64, 300};
    drawn.batch = one_of(batches);
    if (!drawn.engine->is_compared || !runs_on(*drawn.engine, drawn.machine)) return std::nullopt;
    const auto& usual = drawn.engine->usual_precisions;
    const std::string precision(usual[random_() % usual.size()]);
    const Model& model = test::catalogue_model(model_name);
    const Scheme* asked = precision == "auto" ? nullptr : &scheme(precision);
    const Scheme& loaded = loaded_scheme(model, asked, *drawn.engine, drawn.machine);
    auto& weights = weights_[{model_name, drawn.engine, &loaded}];
    if (!weights)
      weights = std::make_unique<QuantisedModel>(loaded_weights(model, loaded, *drawn.engine));
    drawn.weights = weights.get();
    drawn.words = std::string(model_name) + ", " + std::string(loaded.name) + ", " +
                  std::string(drawn.engine->name) + ", " + machine_name + ", batch " +
                  std::to_string(drawn.batch);
    return drawn;
  }

 private:
  std::mt19937 random_{7};
  std::map<std::tuple<std::string, const Engine*, const Scheme*>, std::unique_ptr<QuantisedModel>>
      weights_;
};

Scenario on_machine(const Drawn& drawn, const Machine& machine) {
  Scenario s;
  s.weights = drawn.weights;
  s.machine = &machine;
  s.runtime = drawn.engine;
  s.batch = drawn.batch;
  s.context = 8192;
  return s;
}

/// True if an answer says that fewer cards do better: none at all, by its advice, or those of one
/// kind, by its notes (sweep/screen/fewer_note.hpp).
bool says_that_fewer_are_faster(const Scenario& s, const Estimate& e) {
  for (const Advice& change : advice(s, e))
    if (change.kind == Advice::Kind::no_cards) return true;
  for (const Device& kind : s.machine->devices) {
    Machine alone = *s.machine;
    std::erase_if(alone.devices, [&](const Device& card) { return card.name != kind.name; });
    Scenario fewer = s;
    fewer.machine = &alone;
    if (alone.devices.size() < s.machine->devices.size() && evaluate(fewer).tokens_s > e.tokens_s)
      return true;
  }
  return false;
}

/// Sequences that run at once.
Size running(const Drawn& drawn, const Estimate& e) { return fits(e) ? drawn.batch - e.queued : 0; }

TEST(MoreIsNotWorse, OfAnythingButCards) {
  const char* asked = std::getenv("HEADROOM_DRAWS");
  const int draws = asked != nullptr ? std::atoi(asked) : test::is_sanitized ? 2'000 : 20'000;
  Draws all;
  int compared = 0;
  for (int i = 0; i < draws; ++i) {
    const auto drawn = all.next();
    if (!drawn) continue;
    const Estimate before = evaluate(on_machine(*drawn, drawn->machine));
    if (!fits(before)) continue;
    for (const Doubled& each : doubled) {
      Machine more = drawn->machine;
      each.change(more);
      const Scenario s = on_machine(*drawn, more);
      const Estimate after = evaluate(s);
      const std::string what = drawn->words + ": twice the " + each.name;
      EXPECT_TRUE(fits(after)) << what;
      EXPECT_GE(running(*drawn, after), running(*drawn, before)) << what;
      // A prompt may gain more than the output loses.
      if (after.tokens_s < before.tokens_s * (1 - 1e-6) && after.total > before.total) {
        EXPECT_TRUE(says_that_fewer_are_faster(s, after))
            << what << ": " << after.tokens_s << " instead of " << before.tokens_s << " tokens/s";
      }
      ++compared;
    }
  }
  EXPECT_GE(compared, draws / 8);
}

/// A smaller card keeps its margin until the budget exceeds that of the largest card, and then
/// loses as much of it.
TEST(CardBudget, TheLargestOwnBudgetAsksForNothingElse) {
  const Machine box = parse_machine("1x rtx-4090 + 1x rtx-3060-12gb", shipped_catalogue());
  const QuantisedModel weights = quantise(test::catalogue_model("Qwen/Qwen3-8B"), scheme("bf16"));
  Scenario s;
  s.weights = &weights;
  s.machine = &box;
  s.runtime = &engine("llama.cpp");
  const Estimate open = evaluate(s);
  const Bytes large = card_budget(s, 0), small = card_budget(s, 1), margin(Size{1} << 30);
  const Bytes half(Size{1} << 29);
  EXPECT_EQ(small, usable_memory(box.devices[1]) - margin);
  s.gpu_budget = large;
  EXPECT_EQ(evaluate(s).tokens_s, open.tokens_s);
  EXPECT_EQ(evaluate(s).gpu_bytes, open.gpu_bytes);
  EXPECT_EQ(card_budget(s, 1), small);
  s.gpu_budget = large + half;
  EXPECT_EQ(card_budget(s, 0), large + half);
  EXPECT_EQ(card_budget(s, 1), small + half);
  s.gpu_budget = 2 * large;
  EXPECT_EQ(card_budget(s, 1), usable_memory(box.devices[1]));
  s.gpu_budget = half;
  EXPECT_EQ(card_budget(s, 1), half);
}

/// ktransformers multiplies experts in the mapped file, so they may exceed the host's memory
/// whether or not the cards have room for all other weights.
TEST(MoreIsNotWorse, OfABudgetForAnEngineThatKeepsExpertsInHostMemory) {
  test::OnCards run("deepseek-ai/DeepSeek-V3", "iq4_xs", "rtx-4090 @ dual-epyc-120gb",
                    "ktransformers");
  run.s.kv_precision = {};
  double least = 0;
  for (Size gib = 0; gib <= 23; ++gib) {
    run.s.gpu_budget = gib * Bytes(Size{1} << 30);
    const Estimate e = evaluate(run.s);
    EXPECT_EQ(e.verdict, Verdict::fits_disk_offload) << gib;
    EXPECT_GE(e.tokens_s, least) << gib;
    least = e.tokens_s;
  }
}

/// llama.cpp leaves a table of n-grams in host memory, which is 27 GiB of one layer. All other
/// weights are on the cards.
TEST(LastLayers, TablesStayInHostMemory) {
  test::OnCards run("Qwen/Qwen3.8-Flash-Next", "iq4_xs", "4x rtx-4090", "llama.cpp");
  run.s.kv_precision = {};
  const Plan plan = place(run.s, 1.0);
  EXPECT_EQ(plan.on_cpu.size() + plan.host_experts.size(), 0);
  const Bytes table = run.weights.shards.before.back().rows;
  EXPECT_GT(table, Bytes(Size{25} << 30));
  const HostUse host = host_use(run.s, plan);
  EXPECT_EQ(host.weights, table + run.weights.embedding);
  Bytes cards;
  for (Size card = 0; card < plan.cards; ++card) cards += card_use(run.s, plan, card).weights;
  EXPECT_EQ(cards + host.weights, run.weights.total);
  EXPECT_TRUE(is_on_gpus(evaluate(run.s)));
}

}  // namespace
}  // namespace headroom::model::more_is_not_worse
