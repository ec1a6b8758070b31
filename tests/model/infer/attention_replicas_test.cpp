// Replicas of the attention inside a copy of a model with MLA.
#include <gtest/gtest.h>

#include "hardware/catalogue.hpp"
#include "hardware/machine.hpp"
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
  EXPECT_FALSE(may("deepseek-ai/DeepSeek-V2-Lite", "llama.cpp")) << "no tensor parallelism";
  EXPECT_FALSE(may("Qwen/Qwen3-30B-A3B", "vllm")) << "heads are divided";
  MachineShare boxes{machine};
  EXPECT_EQ(with_attention_replicas(boxes).size(), 3u) << "2, 4 and 8";
  boxes.machine.host.boxes = 2;
  EXPECT_TRUE(with_attention_replicas(boxes).empty());
}

}  // namespace
}  // namespace headroom::model
