// Groups of layers in vLLM's pool of pages, with the layers of a draft in it.
#include "model/infer/memory/pool_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/placement/draft_memory.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// The only cache of the model's that keeps states, has a window, or neither.
const CacheClass& states_of(const Model& m) {
  return *std::ranges::find(m.profile.caches, CacheKind::recurrent, &CacheClass::kind);
}
const CacheClass& attention(const Model& m, bool windowed) {
  return *std::ranges::find_if(m.profile.caches, [&](const CacheClass& c) {
    return c.kind != CacheKind::recurrent && (c.window > 0) == windowed;
  });
}

void expect_layers(const PoolGroups& pool, const CacheClass& c, Size real, Size padded) {
  EXPECT_EQ(pool.layers(c).real, real);
  EXPECT_EQ(pool.layers(c).padded, padded);
}

struct WithDraft : testing::Test {
  const Machine box = test::machine(1, 80, 256);
  Scenario scenario(const QuantisedModel& weights, const Draft& draft, const char* engine) const {
    Scenario s = test::scenario(weights, box, engine);
    s.prompt_tokens = 512;
    s.output_tokens = 128;
    s.draft = &draft;
    return s;
  }
};

/// 16 layers with full attention, 48 with states, and 5 of the head with a window: groups of 5.
TEST_F(WithDraft, TheRarestKindMakesTheGroups) {
  const Model& target = test::catalogue_model("Qwen/Qwen3.8-27B");
  const Model& head = test::catalogue_model("incoai/Qwen3.8-27B-DFlash2");
  const QuantisedModel weights = quantise(target, scheme("bf16"));
  const QuantisedModel proposes = quantise(head, scheme("bf16"));
  const Draft draft{.weights = &proposes, .tokens = 7, .proposer = Proposer::block};
  const Scenario s = scenario(weights, draft, "vllm");
  const PoolGroups pool(s, 1);
  expect_layers(pool, attention(target, false), 16, 20);
  expect_layers(pool, states_of(target), 48, 50);
  const Scenario d = of_draft(s, 1);
  const PoolGroups same(d, 1);
  expect_layers(same, attention(head, true), 5, 5);
  EXPECT_EQ(same.states().block_tokens, pool.states().block_tokens);
  Scenario alone = s;
  alone.draft = nullptr;
  expect_layers(PoolGroups(alone, 1), attention(target, false), 16, 16);
}

/// 12 layers with a window, 12 without, and one of the head without: vLLM's own example, which pads
/// the windows' to 13. Source: vLLM 0.33 v1/core/kv_cache_planning.py, "gpt-oss-20b + eagle".
/// Four layers of a head make 16, more than a quarter above 12 and less than a half.
TEST_F(WithDraft, NearlyEqualKindsArePaddedToTheLargest) {
  const Model& target = test::catalogue_model("openai/gpt-oss-20b");
  const QuantisedModel weights = quantise(target, scheme("bf16"));
  const auto head = [](int layers) {
    return make_model(
        "head",
        parse_config(R"({"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama",
  "hidden_size": 2880, "intermediate_size": 2880, "num_attention_heads": 64, "head_dim": 64,
  "num_key_value_heads": 8, "vocab_size": 201088, "max_position_embeddings": 4096,
  "rms_norm_eps": 1e-5, "torch_dtype": "bfloat16", "num_hidden_layers": )" +
                         std::to_string(layers) + "}",
                     "head.json"),
        "test");
  };
  const Model one = head(1), four = head(4);
  const QuantisedModel first = quantise(one, scheme("bf16")), more = quantise(four, scheme("bf16"));
  const Draft single{.weights = &first, .tokens = 3, .proposer = Proposer::head};
  const Draft several{.weights = &more, .tokens = 3, .proposer = Proposer::head};
  const auto expect = [&](const Draft& draft, const char* engine, Size full, Size padded_full,
                          Size padded_windows) {
    const Scenario s = scenario(weights, draft, engine);
    const PoolGroups pool(s, 1);
    expect_layers(pool, attention(target, false), full, padded_full);
    expect_layers(pool, attention(target, true), 12, padded_windows);
  };
  expect(single, "vllm", 13, 13, 13);
  expect(several, "vllm", 16, 16, 16);
  expect(several, "vllm-0.15", 16, 24, 12);
}

}  // namespace
}  // namespace headroom::model
