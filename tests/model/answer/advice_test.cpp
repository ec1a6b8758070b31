// Changes that are advised can be made, and then do what is said.
#include "model/answer/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "model/engine/loaded_scheme.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

std::optional<Advice> advised(const Scenario& s, Advice::Kind kind) {
  const auto all = advice(s, evaluate(s));
  const auto found = std::ranges::find(all, kind, &Advice::kind);
  return found == all.end() ? std::nullopt : std::optional(*found);
}

TEST(Advice, AShorterContextHoldsPromptAndOutput) {
  test::OnCards run("meta-llama/Llama-3.1-8B-Instruct", "q8_0", "rtx-4070-ti-super", "lm-studio");
  run.s.context = 65536;
  run.s.prompt_tokens = 30'000;
  const auto shorter = advised(run.s, Advice::Kind::shorter_context);
  ASSERT_TRUE(shorter);
  run.s.context = shorter->amount;
  EXPECT_TRUE(is_on_gpus(evaluate(run.s)));
  ++run.s.context;
  EXPECT_FALSE(is_on_gpus(evaluate(run.s)));
  run.s.context = 65536;
  run.s.prompt_tokens = shorter->amount - run.s.output_tokens;  // just enough
  EXPECT_EQ(advised(run.s, Advice::Kind::shorter_context)->amount, shorter->amount);
  ++run.s.prompt_tokens;
  EXPECT_FALSE(advised(run.s, Advice::Kind::shorter_context));
}

// SGLang 0.5.23 takes by default what memory_hook.py leaves to weights and caches.
TEST(Advice, NamesAShareOfTheCardThatIsEnough) {
  test::OnCards run("Qwen/Qwen3-32B", "awq-int4", "1x rtx-4090", "sglang");
  run.s.context = 8192;
  const auto larger = advised(run.s, Advice::Kind::larger_share);
  ASSERT_TRUE(larger);
  EXPECT_FALSE(is_on_gpus(evaluate(run.s)));
  run.s.gpu_share = static_cast<double>(larger->amount) / 100;
  EXPECT_TRUE(is_on_gpus(evaluate(run.s)));
  test::OnCards none("Qwen/Qwen3-32B", "nf4", "1x rtx-4060", "transformers");  // takes no share
  EXPECT_FALSE(advised(none.s, Advice::Kind::larger_share));
}

/// The estimate of `s` in the precision, and under the engine, that were advised.
Estimate followed(Scenario s, const Advice& a) {
  if (!a.engine.empty()) s.runtime = &engine(a.engine);
  const Model& m = *s.weights->model;
  const QuantisedModel weights =
      quantise(m, loaded_scheme(m, &scheme(a.name), *s.runtime, *s.machine));
  s.weights = &weights;
  return evaluate(s);
}

TEST(Advice, FewerBitsAreNotUnpackedByTheEngine) {
  // transformers unpacks fp8 on cards before compute capability 8.9.
  test::OnCards t4("google/gemma-4-E4B-it", "int8", "t4", "transformers");
  t4.s.context = 4096;
  t4.s.batch = 32;
  const auto fewer = advised(t4.s, Advice::Kind::fewer_bits);
  ASSERT_TRUE(fewer);
  EXPECT_EQ(followed(t4.s, *fewer).tpot, fewer->then.token) << fewer->name;

  test::OnCards four("meta-llama/Llama-3.3-70B-Instruct", "q8_0",
                     "4x rtx-3090 @ threadripper-pro-256gb", "ollama");
  four.s.kv_precision = {};
  four.s.batch = 16;
  const auto usable = advised(four.s, Advice::Kind::usable_bits);
  ASSERT_TRUE(usable);
  EXPECT_EQ(followed(four.s, *usable).tpot, usable->then.token) << usable->name;
}

TEST(Advice, NoHostMemoryIsAddedWhereTheCardSharesIt) {
  test::OnCards mac("Qwen/Qwen3.6-27B", "q8_0", "m4-24gb", "llama.cpp");
  mac.s.maps_files = false;
  mac.s.kv_precision = {};
  ASSERT_EQ(evaluate(mac.s).reason, Reason::ram);
  EXPECT_FALSE(advised(mac.s, Advice::Kind::host_memory));

  test::OnCards cards("meta-llama/Llama-3.3-70B-Instruct", "q8_0",
                      "4x rtx-3090 @ threadripper-pro-256gb", "ollama");
  cards.s.kv_precision = {};
  cards.s.batch = 16;
  ASSERT_EQ(evaluate(cards.s).reason, Reason::ram);
  EXPECT_TRUE(advised(cards.s, Advice::Kind::host_memory));
}

TEST(Advice, FurtherCardsAreOfTheKindThatIsNamed) {
  test::OnCards mixed("mistralai/Mistral-Small-4-119B-2603", "q6_K",
                      "1x rtx-5090 + 2x rtx-3090 @ threadripper-pro-256gb", "ik_llama.cpp");
  mixed.s.kv_precision = {};
  const auto more = advised(mixed.s, Advice::Kind::more_cards);
  ASSERT_TRUE(more);
  EXPECT_EQ(more->name, "rtx-3090");
  EXPECT_EQ(more->amount, 1);
  EXPECT_EQ(more->instead_of, 0);
  mixed.box =
      parse_machine("1x rtx-5090 + 3x rtx-3090 @ threadripper-pro-256gb", shipped_catalogue());
  EXPECT_EQ(evaluate(mixed.s).tpot, more->then.token);
}

/// transformers keeps weights of bitsandbytes wholly on cards where it has any.
TEST(Advice, NeitherDiskNorHostMemoryIsAddedForWeightsThatAreNeverDivided) {
  test::OnCards run("mistralai/Devstral-2-123B-Instruct-2512", "int8", "rtx-6000-ada",
                    "transformers");
  const auto short_with = [&](Size ram_gib, Size disk_gib) {
    run.box.host.ram = Bytes(ram_gib << 30);
    run.box.host.disk = Bytes(disk_gib << 30);
    const Estimate e = evaluate(run.s);
    EXPECT_EQ(e.reason, Reason::no_offload) << ram_gib << ' ' << disk_gib;
    EXPECT_FALSE(advised(run.s, Advice::Kind::disk));
    EXPECT_FALSE(advised(run.s, Advice::Kind::host_memory));
    return e.short_bytes;
  };
  const Bytes enough_disk = short_with(64, 2000);
  EXPECT_EQ(short_with(64, 10), enough_disk);
  EXPECT_EQ(short_with(2, 0), enough_disk);
  EXPECT_EQ(short_with(256, 2000), enough_disk);
}

bool holds_on(Scenario s, Machine box, Bytes memory) {
  for (Device& card : box.devices) set_memory(card, memory);
  s.machine = &box;
  return is_on_gpus(evaluate(s));
}

TEST(CardsNeeded, AreMoreThanWhatIsShortOfAShare) {
  const QuantisedModel weights =
      quantise(test::catalogue_model("Qwen/Qwen3.5-27B"), scheme("bf16"));
  for (const char* engine : {"vllm", "sglang", "tensorrt-llm"})
    for (const Size cards : {1, 2}) {
      const Machine box = test::machine(cards, 8, 64);
      Scenario s = test::scenario(weights, box, engine);
      s.context = 8192;
      const Estimate e = evaluate(s);
      ASSERT_EQ(e.reason, Reason::gpu_memory) << engine;
      const Bytes needed = needed_of_each_card(s, e);
      EXPECT_GT(needed, box.devices[0].memory + e.short_bytes) << engine;
      EXPECT_TRUE(holds_on(s, box, needed)) << engine;
      EXPECT_FALSE(holds_on(s, box, needed - mebibyte)) << engine;
      if (cards == 1) {
        EXPECT_EQ(min_card(s), needed) << engine;
      }
    }
}

TEST(CardsNeeded, AreOfNoInterestWhereABudgetLimitsThem) {
  const QuantisedModel weights =
      quantise(test::catalogue_model("Qwen/Qwen3.5-27B"), scheme("bf16"));
  const Machine box = test::machine(1, 80, 64);
  Scenario s = test::scenario(weights, box, "vllm");
  EXPECT_EQ(needed_of_each_card(s, evaluate(s)), Bytes(0));
  s.gpu_budget = Bytes(Size{8} << 30);
  ASSERT_EQ(evaluate(s).reason, Reason::gpu_memory);
  EXPECT_EQ(needed_of_each_card(s, evaluate(s)), Bytes(0));
}

}  // namespace
}  // namespace headroom::model
