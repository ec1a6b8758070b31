// Replicas of the attention inside a copy of a model with MLA.
#include <gtest/gtest.h>

#include "hardware/catalogue.hpp"
#include "hardware/machine.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/usual_context.hpp"
#include "model/infer/serving.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// Tensor parallelism copies the cache of latents to every card. Replicas of the attention leave
/// room for more sequences, and are as an estimate of that division has them.
TEST(Serving, ReplicasOfTheAttentionServeMore) {
  const Model& model = test::catalogue_model("deepseek-ai/DeepSeek-V3");
  const QuantisedModel weights = quantise(model, scheme(model.checkpoint_scheme));
  const Machine machine = parse_machine("8x h200-sxm-141gb", shipped_catalogue());
  const Scenario s = test::scenario(weights, machine, "vllm");
  Target plain, allowed;
  plain.tpot = allowed.tpot = Seconds(0.1);
  allowed.attention_replicas = true;
  const Serving whole = serve(s, plain, Vary::batch), found = serve(s, allowed, Vary::batch);
  EXPECT_EQ(whole.attention, 1);
  ASSERT_GT(found.attention, 1);
  EXPECT_GT(found.users(), whole.users());
  EXPECT_EQ(found.cards * found.replicas, 8);
  const MachineShare share = share_of(machine, found);
  Scenario copy = on(s, share);
  EXPECT_EQ(copy.data_parallel, found.attention);
  EXPECT_EQ(copy.tensor_parallel * copy.data_parallel, 8);
  set_batch(copy, found.batch);
  EXPECT_EQ(evaluate(copy), found.estimate);
  set_batch(copy, found.batch + 1);
  EXPECT_FALSE(shortfall(copy, evaluate(copy), allowed).met());
}

TEST(Serving, OnlyCachesThatWouldBeCopiedHaveReplicasOfTheAttention) {
  const Machine machine = parse_machine("8x h200-sxm-141gb", shipped_catalogue());
  const auto may = [&](const char* name, const char* engine) {
    const Model& model = test::catalogue_model(name);
    const QuantisedModel weights = quantise(model, scheme("bf16"));
    return may_replicate_attention(test::scenario(weights, machine, engine));
  };
  EXPECT_TRUE(may("deepseek-ai/DeepSeek-V2-Lite", "vllm"));
  EXPECT_TRUE(may("deepseek-ai/DeepSeek-V2-Lite", "sglang"));
  EXPECT_FALSE(may("deepseek-ai/DeepSeek-V2-Lite", "tensorrt-llm")) << "not described";
  EXPECT_FALSE(may("deepseek-ai/DeepSeek-V2-Lite", "llama.cpp")) << "no tensor parallelism";
  EXPECT_FALSE(may("Qwen/Qwen3-30B-A3B", "vllm")) << "heads are divided";
  MachineShare boxes{machine};
  EXPECT_EQ(with_attention_replicas(boxes).size(), 3u) << "2, 4 and 8";
  boxes.machine.host.boxes = 2;
  boxes.machine.host.cards = 4;
  EXPECT_EQ(with_attention_replicas(boxes).size(), 3u);
  boxes.machine.host.boxes = 4;
  boxes.machine.host.cards = 2;
  EXPECT_EQ(with_attention_replicas(boxes).size(), 2u) << "a replica's cards are in one box";
}

/// Weights of a card by hand: DeepSeek-V2-Lite's attention (27 layers of queries 2048 x 3072, keys
/// and values from latents 512 x 4096, output 2048 x 2048) and its embedding of 102400 x 2048 are
/// whole with eight replicas. All else is divided as with eight tensor-parallel cards.
TEST(AttentionReplicas, OfSglangDivideAllButTheAttention) {
  const Model& model = test::catalogue_model("deepseek-ai/DeepSeek-V2-Lite");
  const QuantisedModel weights = quantise(model, scheme("bf16"));
  const Machine machine = parse_machine("8x h200-sxm-141gb", shipped_catalogue());
  Scenario s = test::scenario(weights, machine, "sglang");
  const auto bytes_of_card = [&](Size tensor, Size data) {
    s.tensor_parallel = tensor;
    s.data_parallel = data;
    s.expert_parallel = data > 1 ? 8 : 0;
    const Uses uses(s);
    return uses.weights(divide_tensors(s), 0).count();
  };
  constexpr Size attention = 27 * (2048 * 3072 + 512 * 4096 + 2048 * 2048);
  constexpr Size embedding = 102400 * 2048;
  const Size divided = bytes_of_card(8, 0);
  EXPECT_EQ(bytes_of_card(1, 8) - divided, 2 * (attention + embedding) / 8 * 7);
  EXPECT_EQ(bytes_of_card(4, 2) - divided, 2 * (attention + embedding) / 8);
}

/// One replica decodes its own requests as tensor parallelism would decode them all, in less time:
/// a card keeps the cache of its own alone.
TEST(AttentionReplicas, OfSglangKeepTheirOwnCaches) {
  const Model& model = test::catalogue_model("deepseek-ai/DeepSeek-V3");
  const QuantisedModel weights = quantise(model, scheme(model.checkpoint_scheme));
  const Machine machine = parse_machine("8x h200-sxm-141gb", shipped_catalogue());
  Scenario whole = test::scenario(weights, machine, "sglang");
  whole.batch = 256;
  Scenario shared = whole;
  shared.batch = 32;
  shared.data_parallel = shared.expert_parallel = 8;
  const Estimate copied = evaluate(whole), own = evaluate(shared);
  ASSERT_EQ(own.verdict, Verdict::fits_gpus);
  EXPECT_EQ(8 * own.kv_cache.count(), copied.kv_cache.count()) << "of all cards";
  EXPECT_LT(own.tpot, copied.tpot);
  EXPECT_TRUE(may_replicate_attention(whole));
  // Without experts spread over them the replicas share nothing, and each needs all experts.
  shared.expert_parallel = 0;
  EXPECT_EQ(evaluate(shared).verdict, Verdict::does_not_fit);
}

}  // namespace
}  // namespace headroom::model
