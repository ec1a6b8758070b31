// An evaluator reuses results between scenarios. The order of scenarios never changes an estimate.
#include "model/infer/evaluator.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "model/infer/confidence.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/draft.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

TEST(Evaluator, EqualsEvaluateOverAGridInAnyOrder) {
  const Machine desktop = parse_machine("rtx-4090 @ desktop-ddr5-64gb", shipped_catalogue());
  const Machine server = parse_machine("4x a100-sxm-80gb", shipped_catalogue());
  LayerSplit by_hand, by_rows;
  by_hand.gpu_layers = by_rows.gpu_layers = 9;
  by_hand.cache_on_cards = false;
  by_rows.mode = SplitMode::row;
  std::vector<QuantisedModel> held;
  for (const char* name : {"meta-llama/Meta-Llama-3.1-8B", "openai/gpt-oss-20b",
                           "deepseek-ai/DeepSeek-V2.5", "google-bert/bert-large-uncased"})
    held.push_back(quantise(test::catalogue_model(name), scheme("bf16")));
  std::vector<Scenario> grid;
  for (const QuantisedModel& w : held)
    for (const char* engine : {"transformers", "llama.cpp", "vllm"})
      for (const Machine* machine : {&desktop, &server})
        for (const Size batch : {1, 40})
          for (const Size context : {0, 4096})
            for (const LayerSplit* split :
                 std::initializer_list<const LayerSplit*>{nullptr, &by_hand, &by_rows})
              for (const Size budget : {0, 3, 9, 20, 21, 79, 80})
                for (const Size ram : {12, 400}) {
                  Scenario s = test::scenario(w, *machine, engine);
                  if (split != nullptr && s.runtime->offload.mode != Offload::compute) continue;
                  s.batch = batch;
                  s.context = context;
                  s.concurrency = batch;
                  s.layer_split = split;
                  s.gpu_budget = Bytes(budget << 30);
                  s.ram_budget = Bytes(ram << 30);
                  grid.push_back(s);
                }
  std::set<Verdict> verdicts;
  const auto compare = [&](std::size_t step) {
    Evaluator evaluator;
    for (std::size_t i = 0; i < grid.size(); ++i) {
      const Scenario& s = grid[i * step % grid.size()];
      const Estimate alone = evaluate(s);
      verdicts.insert(alone.verdict);
      ASSERT_EQ(evaluator(s), alone) << fmt::format(
          "{} {} {} batch {} context {} budgets {} {}, point {} by {}", s.weights->model->name,
          s.runtime->name, s.machine->name, s.batch, s.context, s.gpu_budget.count() >> 30,
          s.ram_budget.count() >> 30, i, step);
    }
  };
  compare(1);
  compare(grid.size() - 1);  // backwards
  compare(10);               // budgets stay, everything else changes
  EXPECT_EQ(verdicts.size(), 6u);
}

// An evaluator reuses results while only sizes change. It recomputes them after any other change.
TEST(Evaluator, EqualsEvaluateWhateverChangesBetweenPoints) {
  const Machine cards = parse_machine("4x rtx-3090 @ epyc-rome-512gb", shipped_catalogue());
  const Machine mixed = parse_machine("1x rtx-3090 + 1x rtx-4090", shipped_catalogue());
  const QuantisedModel small = quantise(test::catalogue_model("Qwen/Qwen3-0.6B"), scheme("bf16"));
  const Draft draft{.weights = &small};
  const std::vector<std::function<void(Scenario&)>> changes{
      [](Scenario&) {},
      [](Scenario& s) { s.batch = 90; },
      [](Scenario& s) { s.prompt_tokens = 3000; },
      [](Scenario& s) { s.output_tokens = 9; },
      [](Scenario& s) { s.context = 9000; },
      [](Scenario& s) { s.concurrency = s.batch, s.prompt_tokens_p95 = 4000; },
      [](Scenario& s) { s.kv_precision = &precision("q8_0"); },
      [](Scenario& s) { s.kv_precision = &precision("fp8"); },
      [](Scenario& s) { s.threads = 3; },
      [](Scenario& s) { s.enforce_eager = true; },
      [](Scenario& s) { s.max_sequences = 2; },
      [](Scenario& s) { s.chunk_tokens = 256; },
      [](Scenario& s) { s.flash_attention = Override::off; },
      [](Scenario& s) { s.kv_cache = false; },
      [](Scenario& s) { s.tensor_parallel = 4; },
      [](Scenario& s) { s.pipeline_parallel = 2; },
      [](Scenario& s) { s.data_parallel = 2; },
      [](Scenario& s) { s.expert_parallel = 2; },
      [](Scenario& s) { s.cpu_offload = Bytes(Size{3} << 30); },
      [&](Scenario& s) { s.draft = &draft; },
      [&](Scenario& s) { s.machine = &mixed; },
      [](Scenario& s) { s.gpu_budget = Bytes(Size{9} << 30); },
  };
  for (const char* name : {"Qwen/Qwen3-8B", "openai/gpt-oss-20b"}) {
    const QuantisedModel weights = quantise(test::catalogue_model(name), scheme("bf16"));
    for (const char* engine : {"transformers", "llama.cpp", "vllm", "sglang"}) {
      const Scenario plain = test::scenario(weights, cards, engine);
      Evaluator evaluator;
      for (std::size_t from = 0; from < changes.size(); ++from)
        for (std::size_t to = 0; to < changes.size(); ++to) {
          Scenario before = plain, after = plain;
          changes[from](before), changes[to](after);
          evaluator(before);
          ASSERT_EQ(evaluator(after), evaluate(after))
              << name << ' ' << engine << ", change " << to << " after " << from;
        }
    }
  }
}

/// `s` with sizes and budgets drawn anew.
Scenario with_drawn_sizes(Scenario s, std::mt19937& random) {
  const auto draw = [&](Size low, Size high) {  // as many small ones as large ones
    std::uniform_real_distribution<double> log(std::log(low), std::log(high));
    return static_cast<Size>(std::llround(std::exp(log(random))));
  };
  const auto one_in = [&](Size n) { return draw(1, 1 << 20) % n == 0; };
  s.batch = draw(1, 1500);
  s.prompt_tokens = draw(1, 60'000);
  s.output_tokens = draw(1, 2000);
  if (one_in(3)) s.context = s.prompt_tokens + s.output_tokens + draw(1, 9000);
  if (one_in(2)) s.concurrency = s.batch;
  if (one_in(2)) s.prompt_tokens_p95 = 3 * s.prompt_tokens, s.output_tokens_p95 = 900;
  if (one_in(3)) s.max_ttft_p95 = draw(100'000, 10'000'000);
  if (one_in(2)) s.gpu_budget = Bytes(draw(1 << 20, 1 << 27) << 10);
  return s;
}

// A block works out what does not depend on sizes or budgets, from its first point. All other
// points must not inherit that point's sizes.
TEST(Evaluator, EqualsEvaluateForDrawnSizesOfABlock) {
  std::mt19937 random(30);
  for (const char* name : {"meta-llama/Meta-Llama-3.1-8B", "openai/gpt-oss-20b",
                           "deepseek-ai/DeepSeek-V2.5", "Qwen/Qwen3-Next-80B-A3B-Instruct"})
    for (const char* precision : {"bf16", "q4_K_M", "awq-int4"}) {
      const QuantisedModel weights = quantise(test::catalogue_model(name), scheme(precision));
      for (const char* machine :
           {"rtx-4090", "2x rtx-3090", "1x rtx-3090 + 1x rtx-4090", "8x h100-sxm-80gb"}) {
        const Machine cards = parse_machine(machine, shipped_catalogue());
        for (const char* engine : {"transformers", "llama.cpp", "vllm", "sglang"}) {
          const Scenario plain = test::scenario(weights, cards, engine);
          Evaluator evaluator;
          for (int point = 0; point < 25; ++point) {
            const Scenario s = with_drawn_sizes(plain, random);
            ASSERT_EQ(evaluator(s), evaluate(s))
                << fmt::format("{} {} {} {} batch {} prompt {} output {} context {} budget {}",
                               name, precision, machine, engine, s.batch, s.prompt_tokens,
                               s.output_tokens, s.context, s.gpu_budget.count());
          }
        }
      }
    }
}

// The low end of an interval without measurements may be 0, which is an end like any other.
TEST(Evaluator, KnowsTheRoomAtALowEndOfNothing) {
  const QuantisedModel weights =
      quantise(test::catalogue_model("meta-llama/Meta-Llama-3.1-8B"), scheme("bf16"));
  const Machine card = parse_machine("rtx-4090", shipped_catalogue());
  Scenario s = test::scenario(weights, card, "tensorrt-llm");
  ASSERT_EQ(s.runtime->memory.interval.low, 0);
  s.gpu_budget = Bytes(0);
  EXPECT_EQ(evaluate(s).sure, Confidence::no);
}

// A sure verdict holds at the low end of the memory interval too, where it was not worked out.
TEST(Evaluator, WeightsSurelyOffTheCardsAreThereAtTheLowEnd) {
  Size sure = 0;
  for (const char* name : {"meta-llama/Meta-Llama-3.1-8B", "meta-llama/Llama-3.3-70B-Instruct",
                           "openai/gpt-oss-20b", "google/gemma-3-27b-it"}) {
    const QuantisedModel weights = quantise(test::catalogue_model(name), scheme("bf16"));
    for (const char* machine : {"rtx-4090 @ desktop-ddr5-64gb", "2x rtx-3090", "m3-max-48gb"}) {
      const Machine cards = parse_machine(machine, shipped_catalogue());
      for (const char* engine : {"transformers", "llama.cpp", "zero-inference"})
        for (const Size batch : {1, 16, 64})
          for (const Size gibibytes : {4, 8, 12, 16, 20, 24}) {
            Scenario s = test::scenario(weights, cards, engine);
            s.batch = batch;
            s.gpu_budget = Bytes(gibibytes << 30);
            const Estimate e = evaluate(s);
            if (e.sure != Confidence::yes || !fits(e) || is_on_gpus(e)) continue;
            ++sure;
            EXPECT_EQ(verdict_of(place(s, s.runtime->memory.interval.low)), e.verdict)
                << name << ' ' << machine << ' ' << engine << ' ' << batch << ' ' << gibibytes;
          }
    }
  }
  EXPECT_GT(sure, 100);
}

}  // namespace
}  // namespace headroom::model
