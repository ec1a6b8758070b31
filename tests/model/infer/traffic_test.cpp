// Continuous batching: means and percentiles of lengths, and relations between rates and times.
#include "model/infer/traffic.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/timeline/passes.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

// ln(p95 / p50) = 1.6448536 * 0.5: mean p50 * e^0.125, mean of squares mean^2 * e^0.25.
TEST(Lengths, AreLogNormal) {
  const Lengths lengths{1000, 1000 * std::exp(0.5 * 1.6448536269514722)};
  EXPECT_NEAR(lengths.mean(), 1133.1484530668263, 1e-9);
  EXPECT_NEAR(lengths.mean_square(), 1133.1484530668263 * 1133.1484530668263 * 1.2840254166877414,
              1e-3);
  EXPECT_EQ((Lengths{500, 500}.mean()), 500);
  EXPECT_EQ((Lengths{500, 500}.mean_square()), 250000);
}

class TrafficOf : public testing::TestWithParam<const char*> {
 protected:
  const Model& model = test::catalogue_model("meta-llama/Meta-Llama-3-8B");
  const QuantisedModel weights = quantise(model, scheme("bf16"));
  const Machine machine = test::machine(1, 80, 256);
  Scenario scenario(Size batch) const {
    Scenario s = test::scenario(weights, machine, GetParam());
    s.batch = batch;
    s.prompt_tokens = 1000;
    s.output_tokens = 200;
    return s;
  }
};

TEST_P(TrafficOf, LittlesLawHolds) {
  for (const Size batch : {1, 8, 64, 4096}) {
    const Traffic t = traffic(scenario(batch));
    ASSERT_GT(t.running, 0);
    EXPECT_NEAR(t.requests_s * t.total.value(), static_cast<double>(batch),
                1e-6 * static_cast<double>(batch))
        << batch;
    EXPECT_NEAR(t.output_tokens_s, t.requests_s * 200, 1e-9 * t.output_tokens_s);
    EXPECT_NEAR(t.total.value(), (t.ttft + 199.0 * t.tpot).value(), 1e-9);
  }
  EXPECT_LT(traffic(scenario(4096)).running, 4096) << "memory does not hold so many";
}

TEST_P(TrafficOf, TimesAreThoseOfTheParts) {
  const Scenario s = scenario(8);
  Scenario one = s;
  one.batch = 1;
  const Plan plan = place(s, 1.0);
  const double step = decode_step(s, plan, {.self = 1100, .source = 0}).total.value();
  const double prompt = prefill(one, plan, 1000).total.value();
  const Traffic t = traffic(s);
  // The time that other prompts add is spread over the whole request.
  const double after = 199 * t.tpot.value();
  const double longer = (after - 199 * step) * t.total.value() / (7 * after);
  if (s.runtime->serving.separate_prefill) {
    EXPECT_NEAR(longer, prompt, 1e-12);
  } else {
    EXPECT_LT(longer, prompt) << "the weights are read once for both";
    EXPECT_GT(longer, prompt - decode_step(s, plan, {}).total.value());
  }
  // All eight prompts of requests that come together have room in a chunk of 8192 tokens, and one
  // in a chunk of 512. Later ones meet 7 / 200 prompts in their own pass.
  const double first = s.runtime->serving.prefill_chunk < 1000
                           ? 3.5 * prompt
                           : prefill(s, plan, 1000).total.value() - prompt;
  const double waits = std::max(s.runtime->serving.queue.value * first, 7.0 / 200 * prompt);
  EXPECT_NEAR(t.ttft.value(),
              s.runtime->serving.request_s.value * std::sqrt(8.0) + prompt + waits + step, 1e-12);
  EXPECT_NEAR(t.prompt_share, t.requests_s * prompt, 1e-12);
  EXPECT_EQ(t.at_p50.ttft, t.ttft);
  EXPECT_EQ(t.at_p95.total, t.total);
  // A single request waits for no other.
  EXPECT_NEAR(traffic(one).tpot.value(),
              decode_step(one, plan, {.self = 1100, .source = 0}).total.value(), 1e-12);
}

// 64 requests come together. Two prompts have room in each of 32 passes, the k-th of which ends
// after k.
TEST_P(TrafficOf, RequestsThatComeTogetherWaitForPassesInOrder) {
  Engine together = *scenario(1).runtime;
  together.serving.queue.value = 1;
  Scenario s = scenario(64);
  s.runtime = &together;
  s.prompt_tokens = together.serving.prefill_chunk / 2;
  s.output_tokens = 1000;
  Scenario two = s;
  two.batch = 2;
  const Plan plan = place(s, 1.0);
  const double pass = prefill(two, plan, s.prompt_tokens).total.value();
  const CachedTokens cached{.self = s.prompt_tokens + 500, .source = 0};
  EXPECT_NEAR(traffic(s).ttft.value(),
              together.serving.request_s.value * 8 + pass * (1 + 32) / 2 +
                  decode_step(s, plan, cached).total.value(),
              1e-9);
}

// 32 other requests have four tokens each. Each step gets 8 new ones, as far as a chunk has room.
TEST_P(TrafficOf, ShortPromptsMeetInAPass) {
  Scenario s = scenario(33);
  s.output_tokens = 4;
  Scenario joint = s;
  const auto expected = [&](Size prompt, Size together) {
    s.prompt_tokens = joint.prompt_tokens = prompt;
    joint.batch = together;
    const Plan plan = place(s, 1.0);
    return prefill(joint, plan, prompt).total.value() / static_cast<double>(together);
  };
  const auto found = [&] {
    const Traffic t = traffic(s);
    return t.prompt_share / t.requests_s;
  };
  const double eight = expected(10, 8);
  EXPECT_NEAR(found(), eight, 1e-12);
  const double two = expected(s.runtime->serving.prefill_chunk / 2, 2);
  EXPECT_NEAR(found(), two, 1e-12);
}

// Requests with short answers consist almost only of prompts.
TEST_P(TrafficOf, PromptsTakeTheTimeThatTheyTakeAlone) {
  for (const Size output : {1, 2, 4, 50}) {
    Scenario s = scenario(64);
    s.output_tokens = output;
    const Plan plan = place(s, 1.0);
    double each = prefill(s, plan, 1000).total.value() / 64;
    for (Size together = 1; together <= 8; ++together) {
      Scenario some = s;
      some.batch = together;
      each =
          std::min(each, prefill(some, plan, 1000).total.value() / static_cast<double>(together));
    }
    EXPECT_LE(traffic(s).requests_s * each, 1) << output;
  }
}

// With 64 concurrent requests, decode steps read the weights in any case.
TEST_P(TrafficOf, MixedStepsCostLessThanSeparateOnes) {
  Engine together = *scenario(64).runtime, apart = together;
  together.serving.separate_prefill = false;
  apart.serving.separate_prefill = true;
  Scenario s = scenario(64);
  s.runtime = &together;
  const Traffic mixed = traffic(s);
  s.runtime = &apart;
  const Traffic alone = traffic(s);
  EXPECT_LT(mixed.tpot, alone.tpot);
  EXPECT_EQ(mixed.ttft, alone.ttft);
}

TEST_P(TrafficOf, SpreadLengthsCostMoreThanTheirMedian) {
  const Scenario s = scenario(16);
  const Traffic alike = traffic(s), spread = traffic(s, {1000, 4000}, {200, 800});
  EXPECT_LT(spread.requests_s, alike.requests_s);
  EXPECT_GT(spread.cached_tokens, alike.cached_tokens);
  EXPECT_GT(spread.at_p95.ttft, spread.at_p50.ttft);
  EXPECT_GT(spread.at_p95.total, spread.at_p50.total);
  EXPECT_LT(spread.at_p50.ttft, spread.ttft) << "the mean prompt is longer than the median";
  EXPECT_NEAR(spread.requests_s * spread.total.value(), 16, 1e-6);
  // s = ln 4 / 1.6448536: prompt mean 1000 e^(s^2/2), outputs' mean square over twice their mean.
  const double v = std::pow(std::log(4.0) / 1.6448536269514722, 2);
  EXPECT_NEAR(spread.cached_tokens, 1000 * std::exp(v / 2) + 200 * std::exp(v * 1.5) / 2, 1.5);
}

/// Traffic of `batch` requests; nothing where they do not all run on cards.
std::optional<Traffic> on_cards(Scenario s, Size batch) {
  s.batch = batch;
  if (!is_on_gpus(evaluate(s))) return std::nullopt;
  const Traffic t = traffic(s);
  return t.running == batch ? std::optional(t) : std::nullopt;
}

/// Expects that `more` requests are no quicker than `some`, and gain no more than their share.
void expect_no_gain(const Traffic& some, const Traffic& more) {
  constexpr double rounding = 1 + 1e-9;
  EXPECT_LE(some.tpot.value(), more.tpot.value() * rounding);
  EXPECT_LE(some.ttft.value(), more.ttft.value() * rounding);
  const double share = static_cast<double>(more.running) / static_cast<double>(some.running);
  EXPECT_LE(more.output_tokens_s, some.output_tokens_s * share * rounding);
}

// Counts of prompts that meet in a pass pass whole numbers between 1 and 800 requests.
TEST(Traffic, OneMoreRequestSpeedsNobodyUp) {
  int compared = 0;
  for (const auto* name :
       {"meta-llama/Meta-Llama-3-8B", "openai/gpt-oss-120b", "Qwen/Qwen3-30B-A3B"}) {
    const Model& model = test::catalogue_model(name);
    const QuantisedModel weights = quantise(model, scheme(model.checkpoint_scheme));
    const Machine machine = test::machine(4, 180, 2000);
    for (const auto* engine : {"vllm", "sglang", "llama.cpp", "tensorrt-llm"})
      for (const auto& [prompt, output] :
           {std::pair<Size, Size>{512, 128}, {1500, 17}, {30, 900}}) {
        Scenario s = test::scenario(weights, machine, engine);
        s.prompt_tokens = prompt;
        s.output_tokens = output;
        for (Size batch = 1; batch <= 800; batch += 1 + batch / 11) {
          const auto some = on_cards(s, batch), more = on_cards(s, batch + 1);
          if (!some || !more) break;
          SCOPED_TRACE(fmt::format("{} under {}, {} + {} tokens, {} requests", name, engine, prompt,
                                   output, batch));
          expect_no_gain(*some, *more);
          ++compared;
        }
      }
  }
  EXPECT_GE(compared, 500);
}

// The room of a chunk for prompts changes by whole numbers between these.
TEST(Traffic, OneMoreTokenChangesLittle) {
  const Model& model = test::catalogue_model("openai/gpt-oss-120b");
  const QuantisedModel weights = quantise(model, scheme(model.checkpoint_scheme));
  const Machine machine = test::machine(4, 180, 2000);
  for (const auto* engine : {"vllm", "sglang", "llama.cpp"}) {
    Scenario s = test::scenario(weights, machine, engine);
    s.output_tokens = 40;
    for (Size prompt = 30; prompt <= 3000; prompt += 1 + prompt / 7) {
      SCOPED_TRACE(fmt::format("{}, {} tokens", engine, prompt));
      s.prompt_tokens = prompt;
      const auto some = on_cards(s, 200);
      s.prompt_tokens = prompt + 1;
      const auto more = on_cards(s, 200);
      ASSERT_TRUE(some && more);
      EXPECT_NEAR(more->requests_s / some->requests_s, 1, 0.06);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, TrafficOf, testing::Values("llama.cpp", "vllm"), [](const auto& one) {
  return std::string(one.index == 0 ? "llamacpp" : "vllm");
});

}  // namespace
}  // namespace headroom::model
