// Modules that predict further tokens, acceptance, and proposals without weights.
#include <gtest/gtest.h>

#include <cmath>

#include "model/checkpoint/predictor.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/placement/draft_memory.hpp"
#include "model/infer/timeline/draft_times.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

struct Modules : testing::Test {
  const Model& target = test::catalogue_model("Qwen/Qwen3.5-27B");
  const QuantisedModel weights = quantise(target, scheme("bf16"));
  const Model predictor = predictor_model(target);
  const QuantisedModel proposes = quantise_predictor(predictor, weights);
  const Machine box = test::machine(1, 80, 256);
  Draft draft{.weights = &proposes,
              .tokens = 3,
              .acceptance = 0.75,
              .proposer = Proposer::modules,
              .modules = 1};
  Scenario scenario(const char* engine, const Draft* with) const {
    Scenario s = test::scenario(weights, box, engine);
    s.prompt_tokens = 512;
    s.output_tokens = 128;
    s.draft = with;
    return s;
  }
};

/// One layer of full attention with a gate (hidden 5120, 24 query and 4 KV heads of 256,
/// feed-forward 17408), a projection of 2 x 5120, norms. Embedding and head are the model's.
TEST_F(Modules, TakeTheirOwnTensorsAlone) {
  const Size matrices = 5120 * 24 * 256 * 2 + 2 * 5120 * 4 * 256 + 24 * 256 * 5120 +
                        3 * 5120 * 17408 + 2 * 5120 * 5120;
  const Size norms = 5 * 5120 + 2 * 256;
  EXPECT_EQ(proposes.total, Bytes(2 * (matrices + norms)));
  EXPECT_EQ(proposes.head_read, weights.head_read);
  EXPECT_EQ(std::ssize(predictor.profile.layers), 1);
  EXPECT_TRUE(predictor.profile.generative);
}

TEST_F(Modules, KeepACacheAndCopiesOfStates) {
  const Scenario with = scenario("vllm", &draft), without = scenario("vllm", nullptr);
  // Two times 4 heads of 256 in 2 bytes for a page of 784 tokens (49 times 16). It is the least
  // that holds a state of 48 * 128 * 128 elements in 4 bytes and 10240 * 3 in 2.
  EXPECT_EQ(draft_on_card(with, 1, true).kv_cache, Bytes(784 * 2 * 4 * 256 * 2));
  EXPECT_EQ(state_copies(without), 1);
  EXPECT_EQ(state_copies(with), 4);
  const auto cache = [](const Scenario& s) {
    return kv_cache(s, reserved_tokens(s), 0, std::ssize(s.weights->layer)).count();
  };
  Scenario one = without;
  one.output_tokens = 0, one.prompt_tokens = 0;  // states alone
  // A state has a page of its own; without proposals a sequence has two, for prefix caching. With
  // the module 17 layers have full attention, so that 48 with states are padded to 51.
  EXPECT_EQ(2 * 48 * (cache(with) - cache(without)), (5 * 51 - 2 * 48) * cache(one));
  EXPECT_GT(cache(one), 0);
  // llama.cpp computes states again for a draft model, and keeps copies for modules.
  Draft model = draft;
  model.proposer = Proposer::model;
  EXPECT_EQ(state_copies(scenario("llama.cpp", &model)), 1);
  EXPECT_EQ(state_copies(scenario("llama.cpp", &draft)), 4);
}

TEST_F(Modules, MakeDecodingFasterWhereTokensAreKept) {
  const double plain = evaluate(scenario("vllm", nullptr)).tokens_s;
  EXPECT_GT(evaluate(scenario("vllm", &draft)).tokens_s, 1.3 * plain);
  draft.acceptance = 0;
  EXPECT_LT(evaluate(scenario("vllm", &draft)).tokens_s, plain);
}

/// One pass over the last token and 7 masks proposes all of them.
TEST(BlockOfTokens, IsProposedInOnePass) {
  const Model& target = test::catalogue_model("Qwen/Qwen3.8-27B");
  const QuantisedModel weights = quantise(target, scheme("bf16"));
  const QuantisedModel head =
      quantise(test::catalogue_model("incoai/Qwen3.8-27B-DFlash2"), scheme("bf16"));
  const Machine box = test::machine(1, 80, 256);
  const Draft draft{.weights = &head, .tokens = 7, .acceptance = 0.7, .proposer = Proposer::block};
  Scenario s = test::scenario(weights, box, "vllm");
  s.prompt_tokens = 512;
  s.output_tokens = 128;
  s.draft = &draft;
  EXPECT_EQ(draft_passes(draft), 1);
  EXPECT_EQ(state_copies(s), 8);
  const DraftTimes times = draft_times(s, place(s, 1.0));
  const Seconds parts = times.propose.total + times.check.total + times.further;
  EXPECT_DOUBLE_EQ(times.step.value(), parts.value());
  // Its 1,924,404,480 parameters, without embedding and head, and two rotary tables of 64 elements.
  Scenario alone = s;
  alone.draft = nullptr;
  EXPECT_EQ(evaluate(s).weights - evaluate(alone).weights,
            Bytes(2 * Size{1'924'404'480} + 2 * 64 * 4));
}

/// Each of two modules proposes one token in turn: half of the layers run.
TEST_F(Modules, RunInTurn) {
  const Scenario with = scenario("vllm", &draft);
  const Scenario d = of_draft(with, 1);
  const Plan plan = place(d, 1.0);
  const double one = propose_step(d, plan, 1).total.value();
  EXPECT_DOUBLE_EQ(draft_times(with, place(with, 1.0)).propose.total.value(), one);
  const Model& layers = test::catalogue_model("Qwen/Qwen3-0.6B");
  const QuantisedModel many = quantise(layers, scheme("bf16"));
  const Scenario all = test::scenario(many, box, "vllm");
  const Plan placed = place(all, 1.0);
  EXPECT_LT(propose_step(all, placed, 4).total, propose_step(all, placed, 1).total);
}

TEST(Predictor, IsRefusedWithoutDescribedModules) {
  EXPECT_THROW(predictor_model(test::catalogue_model("Qwen/Qwen3-32B")), std::invalid_argument);
  EXPECT_THROW(predictor_model(test::catalogue_model("MiniMaxAI/MiniMax-M2.5")),
               std::invalid_argument);
  EXPECT_THROW(predictor_model(test::catalogue_model("deepseek-ai/DeepSeek-V4.1-Flash")),
               std::invalid_argument)
      << "all tokens at once";
}

/// The checkpoint's copies of embedding and head are the model's here: 11.6e9 parameters without
/// them (tests/oracle/further_counts_test.cpp).
TEST(Predictor, SharesCopies) {
  const Model& target = test::catalogue_model("deepseek-ai/DeepSeek-V3");
  const QuantisedModel weights = quantise(target, scheme("bf16"));
  const Model predictor = predictor_model(target);
  const QuantisedModel proposes = quantise_predictor(predictor, weights);
  EXPECT_NEAR(proposes.total.real().value(), 2 * 11'610'067'968.0, 1e6);
  EXPECT_EQ(proposes.head_read, weights.head_read);
}

TEST(Acceptance, IsSolvedFromTokensAStep) {
  for (const double kept : {0.2, 0.69, 0.95})
    for (const Size tokens : {1, 3, 7})
      EXPECT_NEAR(acceptance_of(tokens, tokens_per_step({.tokens = tokens, .acceptance = kept})),
                  kept, 1e-9);
}

TEST(Acceptance, IsWideWhereFewMeasured) {
  const Acceptance modules = measured_acceptance(Proposer::modules),
                   head = measured_acceptance(Proposer::head);
  EXPECT_LT(modules.low, modules.expected);
  EXPECT_LT(modules.expected, modules.high);
  EXPECT_LT(modules.high, 1);
  EXPECT_LT(head.sources, modules.sources);
  const auto width = [](const Acceptance& a) {
    return std::log(a.high / (1 - a.high)) - std::log(a.low / (1 - a.low));
  };
  EXPECT_GT(width(head), width(modules));
  EXPECT_EQ(measured_acceptance(Proposer::model).sources, 0);
  EXPECT_EQ(measured_acceptance(Proposer::lookup).sources, 0);
}

TEST(Acceptance, WidensTheIntervalOfAStep) {
  const Engine& engine = model::engine("vllm");
  const Draft draft{.tokens = 3, .acceptance = 0.75, .proposer = Proposer::modules};
  const Engine known = with_acceptance(engine, draft, {0.75, 0.75, 0.75, 0});
  EXPECT_GT(known.kernels.decode_interval.high, engine.kernels.decode_interval.high)
      << "what a check costs is not known well";
  const Engine wide = with_acceptance(engine, draft, {0.5, 0.75, 0.9, 2});
  // Without an error of the step: 2.734 tokens at 0.75, 1.875 at 0.5.
  EXPECT_GT(wide.kernels.decode_interval.high,
            std::max(engine.kernels.decode_interval.high, 2.734375 / 1.875));
  EXPECT_GT(wide.kernels.decode_interval.high, known.kernels.decode_interval.high);
  EXPECT_LT(wide.kernels.decode_interval.low, known.kernels.decode_interval.low);
}

/// n-grams take no memory and no time of their own: a step is the check of all tokens.
TEST(Lookup, CostsTheCheckAlone) {
  const QuantisedModel weights = quantise(test::catalogue_model("Qwen/Qwen3-32B"), scheme("bf16"));
  const Machine box = test::machine(1, 80, 256);
  const Draft draft{.tokens = 4, .acceptance = 0.5, .proposer = Proposer::lookup};
  Scenario s = test::scenario(weights, box, "vllm");
  const Estimate plain = evaluate(s);
  s.draft = &draft;
  const Estimate e = evaluate(s);
  EXPECT_EQ(e.gpu_bytes, plain.gpu_bytes);
  EXPECT_EQ(e.weights, plain.weights);
  EXPECT_EQ(e.ttft, plain.ttft);
  const DraftTimes times = draft_times(s, place(s, 1.0));
  EXPECT_NEAR(e.tpot.value() * tokens_per_step(draft), (times.check.total + times.further).value(),
              1e-12);
  EXPECT_LT(e.tpot, plain.tpot);
}

}  // namespace
}  // namespace headroom::model
