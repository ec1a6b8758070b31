// Memory of low-rank adapters at inference, compared with sums by hand from the engines' shapes.
#include "model/infer/memory/served_adapters.hpp"

#include <gtest/gtest.h>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

Bytes on_rank(const QuantisedModel& weights, Size cards) {
  const Rank rank{.cards = cards, .expert_cards = cards, .vocabulary_multiple = 64};
  return weights.shards.of_rank(weights.shards.layers(0, std::ssize(weights.layer)), rank);
}

class Llama8B : public testing::Test {
 protected:
  const Model& model = test::catalogue_model("meta-llama/Meta-Llama-3-8B");
  const QuantisedModel weights = quantise(model, scheme("bf16"));
  QuantisedModel served(std::string_view name, Size count, Size rank, Size batch = 1) const {
    return with_adapters(weights, engine(name), {count, {.rank = rank}}, batch);
  }
};

// Rank 16. Elements per rank of one layer: q 4096 + 4096, k and v 4096 + 1024 each, o 4096 + 4096.
// gate and up have 4096 + 14336 each, down 14336 + 4096. The sum is 81,920.
TEST_F(Llama8B, SlotsForEveryLinearLayer) {
  const QuantisedModel one = served("vllm", 1, 16);
  EXPECT_EQ(one.adapters, Bytes(32 * 16 * 81920 * 2));
  EXPECT_EQ(one.total, weights.total + one.adapters);
  EXPECT_EQ(one.layers_before.back(), weights.layers_before.back() + one.adapters);
  EXPECT_EQ(served("vllm", 4, 16).adapters.count(), 4 * one.adapters.count());
  // If a class requests it, the embedding and the head have slots too: 2 * rank * (vocabulary +
  // hidden).
  EXPECT_EQ(one.adapters_most - one.adapters, Bytes(2 * 16 * (128256 + 4096) * 2));
}

// Two cards. For q, k, v, gate and up, each has the whole inner factors (5 * 4096) and half of the
// outer ones ((4096 + 2 * 1024 + 2 * 14336) / 2). For o and down, each has half of the inner
// factors (2048 + 7168) and the whole outer ones (2 * 4096).
TEST_F(Llama8B, TwoCardsNeedMoreThanHalfEach) {
  const Bytes beside = on_rank(served("vllm", 1, 16), 2) - on_rank(weights, 2);
  EXPECT_EQ(beside, Bytes(32 * 16 * (20480 + 17408 + 9216 + 8192) * 2));
}

// PEFT's default targets for llama are q_proj and v_proj, in fp32.
TEST_F(Llama8B, AdaptersThatAreLoadedAreAsTheirTargetsSay) {
  EXPECT_EQ(served("transformers", 3, 8).adapters, Bytes(3 * 32 * 8 * (8192 + 5120) * 4));
  EXPECT_EQ(served("transformers", 3, 8).adapters_most, served("transformers", 3, 8).adapters);
}

TEST_F(Llama8B, APassReadsNoMoreAdaptersThanThereAreSequences) {
  const auto read = [&](const QuantisedModel& w) {
    return w.read_dense.back() - weights.read_dense.back();
  };
  const double one = read(served("vllm", 1, 16));
  EXPECT_DOUBLE_EQ(one, 32 * 16 * 81920 * 2.0);
  EXPECT_DOUBLE_EQ(read(served("vllm", 8, 16, 1)), one);
  EXPECT_DOUBLE_EQ(read(served("vllm", 8, 16, 3)), 3 * one);
  EXPECT_DOUBLE_EQ(read(served("vllm", 8, 16, 99)), 8 * one);
}

TEST_F(Llama8B, RefusesWhatAnEngineHasNot) {
  EXPECT_THROW(served("vllm", 1, 10), AdapterError);
  EXPECT_NO_THROW(served("sglang", 1, 10));
  EXPECT_THROW(served("tensorrt-llm", 1, 16), AdapterError);
  EXPECT_THROW(with_adapters(weights, engine("vllm"), {1, {.rank = 16, .targets = {"q_proj"}}}, 1),
               AdapterError);
  EXPECT_THROW(
      with_adapters(weights, engine("llama.cpp"), {1, {.rank = 8, .targets = {"lm_head"}}}, 1),
      AdapterError);
}

// 128 experts of width 768 in each of 48 layers. gate and up are two slices with an inner factor
// each, 2 * (2048 + 768), down is 768 + 2048. Attention has 2048 + 4096, twice 2048 + 512, and 4096
// + 2048. The router is a linear layer like any other (ReplicatedLinear), 2048 + 128.
TEST(ServedAdapters, EveryExpertHasSlots) {
  const Model& model = test::catalogue_model("Qwen/Qwen3-30B-A3B");
  const QuantisedModel weights = quantise(model, scheme("bf16"));
  const QuantisedModel served = with_adapters(weights, engine("vllm"), {1, {.rank = 8}}, 1);
  EXPECT_EQ(served.adapters, Bytes(48 * 8 * (128 * 3 * 2816 + 6144 + 2 * 2560 + 6144 + 2176) * 2));
}

// The slots add to a GPU's memory. With too many slots, the model no longer fits.
TEST_F(Llama8B, TheyCountAgainstTheBudget) {
  const Machine machine = test::machine(1, 24, 64);
  Scenario s = test::scenario(weights, machine, "vllm");
  const Estimate without = evaluate(s);
  const QuantisedModel few = served("vllm", 2, 16), many = served("vllm", 64, 64);
  s.weights = &few;
  const Estimate with = evaluate(s);
  EXPECT_GE(with.gpu_bytes - without.gpu_bytes, few.adapters);
  EXPECT_LE((with.gpu_bytes - without.gpu_bytes).count(), few.adapters.count() * 11 / 10);
  s.weights = &many;
  EXPECT_EQ(evaluate(s).verdict, Verdict::does_not_fit);
}

}  // namespace
}  // namespace headroom::model
