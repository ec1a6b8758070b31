// Costs and gains of a draft model in speculative decoding, calculated by hand.
#include <gtest/gtest.h>

#include "model/infer/estimate.hpp"
#include "model/infer/placement/draft_memory.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/timeline/draft_times.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

// Leviathan et al., arXiv:2211.17192, equation 1.
TEST(Draft, TokensOfAStep) {
  const auto tokens = [](Size k, double a) {
    return tokens_per_step({.tokens = k, .acceptance = a});
  };
  EXPECT_DOUBLE_EQ(tokens(4, 0), 1);
  EXPECT_DOUBLE_EQ(tokens(4, 1), 5);
  EXPECT_NEAR(tokens(4, 0.8), 1 + 0.8 + 0.64 + 0.512 + 0.4096, 1e-12);
}

// An engine logs 42 % of 4 tokens as kept, so a step gives 1 + 4 * 0.42 (sudoingX/qwen38-mtp#11).
TEST(Draft, AShareOfAllProposedTokensIsWhatEnginesLog) {
  for (const Size k : {1, 2, 4, 7})
    for (const double share : {0.0, 0.25, 0.42, 0.9, 1.0}) {
      const Draft draft{.tokens = k, .acceptance = acceptance_of_share(k, share)};
      EXPECT_NEAR(tokens_per_step(draft), 1 + static_cast<double>(k) * share, 1e-9);
      EXPECT_NEAR(share_kept(draft), share, 1e-9);
    }
}

/// Cards that divide a model also divide its draft. If the draft's heads do not divide, nothing
/// runs.
TEST(Draft, IsDividedByTheCardsOfTheModel) {
  const QuantisedModel weights = quantise(test::catalogue_model("Qwen/Qwen3-32B"), scheme("bf16"));
  const Model three_heads =
      make_model("three heads",
                 parse_config(R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "hidden_size": 192, "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 3,
  "num_key_value_heads": 3, "vocab_size": 151936, "max_position_embeddings": 4096,
  "rms_norm_eps": 1e-5, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})",
                              "llama.json"),
                 "test");
  const QuantisedModel proposes = quantise(three_heads, scheme("bf16"));
  const Draft draft{&proposes, 5, 0.7};
  const Machine box = test::machine(4, 80, 256);
  Scenario s = test::scenario(weights, box, "vllm");
  s.draft = &draft;
  EXPECT_EQ(evaluate(s).gpus_used, 1);
  s.tensor_parallel = 4;
  EXPECT_EQ(evaluate(s).reason, Reason::heads_not_divisible);
  s.draft = nullptr;
  EXPECT_EQ(evaluate(s).gpus_used, 4);
}

// estimate says that these are not described; a sweep has a row that is refused.
TEST(Draft, IsNotDescribedWithStagesOrReplicas) {
  const QuantisedModel weights = quantise(test::catalogue_model("Qwen/Qwen3-32B"), scheme("bf16"));
  const Draft draft{.tokens = 3, .acceptance = 0.5};
  const Machine box = test::machine(4, 80, 256);
  for (const auto degree : {&Scenario::data_parallel, &Scenario::pipeline_parallel}) {
    Scenario s = test::scenario(weights, box, "vllm");
    s.*degree = 2;
    EXPECT_NE(evaluate(s).verdict, Verdict::refused);
    s.draft = &draft;
    EXPECT_EQ(evaluate(s).reason, Reason::parallelism_unsupported);
  }
}

class DraftOf : public testing::TestWithParam<const char*> {
 protected:
  const Model& model = test::catalogue_model("Qwen/Qwen3-32B");
  const Model& small = test::catalogue_model("Qwen/Qwen3-0.6B");
  const QuantisedModel weights = quantise(model, scheme("bf16"));
  const QuantisedModel proposes = quantise(small, scheme("bf16"));
  const Machine machine = test::machine(2, 80, 256);
  Scenario scenario(const Draft* draft) const {
    Scenario s = test::scenario(weights, machine, GetParam());
    s.prompt_tokens = 512;
    s.output_tokens = 128;
    s.draft = draft;
    return s;
  }
};

TEST_P(DraftOf, CountsDraftWeightsAndCaches) {
  const Draft draft{&proposes, 5, 0.7};
  const Scenario s = scenario(&draft);
  const Plan plan = place(s, 1.0);
  ASSERT_TRUE(plan.feasible());
  Bytes with, without;
  const Scenario alone = scenario(nullptr);
  for (Size card = 0; card < plan.cards; ++card) {
    with += card_use(s, plan, card).kv_cache;
    without += card_use(alone, plan, card).kv_cache;
  }
  // 28 layers of 8 heads of 128, keys and values, 2 bytes, for 640 tokens.
  Size tokens = 640;
  if (s.runtime->cache.block_tokens == 256) tokens = 768;
  EXPECT_EQ(with - without, Bytes(tokens * 28 * 2 * 8 * 128 * 2));
  EXPECT_EQ(evaluate(s).weights - evaluate(alone).weights, proposes.total);
  EXPECT_GT(evaluate(s).gpu_bytes, evaluate(alone).gpu_bytes);
  EXPECT_GT(evaluate(s).ttft, evaluate(alone).ttft);
}

TEST_P(DraftOf, AStepIsShared) {
  double before = 1e9;
  for (const double acceptance : {0.0, 0.5, 0.9, 1.0}) {
    const Draft draft{&proposes, 4, acceptance};
    const Scenario s = scenario(&draft);
    const DraftTimes times = draft_times(s, place(s, 1.0));
    const double tpot = evaluate(s).tpot.value();
    EXPECT_NEAR(tpot * tokens_per_step(draft),
                (4 * times.propose.total + times.check.total + times.further).value(), 1e-12);
    EXPECT_LT(tpot, before);
    before = tpot;
  }
  // If no draft token is kept, decoding is slower than without a draft. If all are kept, it is
  // faster, because the draft is fifty times smaller.
  const Draft nothing{&proposes, 4, 0}, all{&proposes, 4, 1};
  const double plain = evaluate(scenario(nullptr)).tpot.value();
  EXPECT_GT(evaluate(scenario(&nothing)).tpot.value(), plain);
  EXPECT_LT(evaluate(scenario(&all)).tpot.value(), plain);
}

INSTANTIATE_TEST_SUITE_P(, DraftOf, testing::Values("transformers", "llama.cpp", "vllm"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::erase(name, '.');
                           return name;
                         });

// Each of two cards has half of the draft if the cards divide matrices.
TEST(Draft, IsDividedAsTheModelIs) {
  const QuantisedModel weights = quantise(test::catalogue_model("Qwen/Qwen3-32B"), scheme("bf16"));
  const QuantisedModel proposes =
      quantise(test::catalogue_model("Qwen/Qwen3-0.6B"), scheme("bf16"));
  const Machine machine = test::machine(2, 80, 256);
  const Draft draft{&proposes, 5, 0.7};
  Scenario s = test::scenario(weights, machine, "vllm");
  s.draft = &draft;
  const DraftUse half = draft_on_card(s, 2, true);
  EXPECT_EQ(draft_on_card(s, 2, false).weights, half.weights);
  EXPECT_GT(2 * half.weights, proposes.total);  // each card has the whole norms
  EXPECT_LT((2 * half.weights).count(), proposes.total.count() * 101 / 100);
}

}  // namespace
}  // namespace headroom::model
