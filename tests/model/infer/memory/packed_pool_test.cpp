// Blocks of a pool for caches with different entries.
#include "model/infer/memory/packed_pool.hpp"

#include <gtest/gtest.h>

#include "model/infer/memory/kv_cache.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// Pages of DeepSeek-V4-Flash with one module for further tokens, in vLLM's FP8 format: entries of
/// 584 bytes, index keys of 132, sums in fp32, pages aligned to 576.
constexpr PagedLayers flash[] = {{21, 37440, 256, 0},  {20, 1728, 256, 0}, {21, 8640, 256, 0},
                                 {44, 37440, 64, 128}, {21, 32832, 4, 8},  {21, 8640, 4, 8},
                                 {20, 32832, 8, 128}};

/// A published log has 10.29 GiB for 1.90 times 1,048,576 tokens: 5.41 GiB a sequence (2 RTX PRO
/// 6000, vLLM 0.25, passes of 4,096 tokens).
TEST(PackedPool, ASequenceOfAMillionTokensAsVllmLogsIt) {
  const PoolDemand demand = packed_pool(flash, 1048576, 1, 4096);
  EXPECT_EQ(demand.block_bytes, 21 * 37440 + 20 * 1728 + 21 * 8640);
  EXPECT_EQ(demand.blocks, 4096 + 2 * 67 + 1027 + 529);
  EXPECT_NEAR(demand.bytes().real().value() / 1024 / 1024 / 1024, 10.29 / 1.90, 0.03);
}

TEST(PackedPool, OnlyOneSequenceHasTokensInFlight) {
  const Size one = packed_pool(flash, 1048576, 1, 4096).blocks;
  EXPECT_EQ(packed_pool(flash, 1048576, 2, 4096).blocks - one, 4096 + 2 * 3 + 3 + 17);
}

TEST(PackedPool, AShortContextNeedsNoWholeWindow) {
  EXPECT_EQ(packed_pool(flash, 64, 1, 4096).blocks, 1 + 2 * 2 + 17 + 9);
}

/// A published log has 81.79 GiB for 55.1495 times 131,072 tokens (GLM-5.3-Flash on 8 H200, vLLM
/// 0.30). Blocks of 640 tokens hold eleven layers of latents and index keys. A block has room for
/// eleven states, so 34 layers of states are four groups of two pages. Rings are one more.
TEST(PackedPool, StatesAreSplitIntoGroupsThatABlockHasRoomFor) {
  constexpr PagedLayers glm[] = {
      {11, 655360, 640, 0}, {11, 21120, 640, 0}, {34, 655360, 640, 0, 2}, {11, 2048, 4, 0, 1}};
  const PoolDemand demand = packed_pool(glm, 131072, 1, 16384);
  EXPECT_EQ(demand.block_bytes, 11 * (655360 + 21120));
  EXPECT_EQ(demand.blocks, 205 + 4 * 2 + 1);
  EXPECT_NEAR(demand.bytes().real().value() / 1024 / 1024 / 1024, 81.79 / 55.1495, 0.0002);
}

/// DeepSeek-V4.1-Flash on Hopper: four layers of entries and keys, 40 windows in pages of 32
/// tokens, three rings. No bucket has equally many layers of several sizes, so windows are split
/// like states: a block has room for 24 of their pages.
TEST(PackedPool, WindowsAreSplitWhereNothingElseIs) {
  constexpr PagedLayers flash41[] = {{3, 74880, 256, 0}, {1, 149760, 256, 0},  {3, 17280, 256, 0},
                                     {1, 33984, 256, 0}, {40, 19008, 32, 128}, {3, 32768, 8, 0, 1}};
  const PoolDemand demand = packed_pool(flash41, 262144, 1, 16384);
  EXPECT_EQ(demand.block_bytes, 3 * 74880 + 149760 + 3 * 17280 + 33984);
  EXPECT_EQ(demand.blocks, 1024 + 2 * 517 + 1);
}

Size pool_of(Scenario& s, Size tokens) {
  s.context = tokens;
  return kv_cache(s, reserved_tokens(s), 0, std::ssize(s.weights->layer)).count();
}

/// Entries of 584 bytes in pages of 576, or of 528 in pages of 512: DeepSeek-V4.1-Flash has three
/// layers of 128 entries a block and one of 256, with their keys of 132 bytes. 40 windows are two
/// groups of pages of 32 tokens.
/// Source: vLLM 0.33 models/deepseek_v41/attention.py.
TEST(PackedPool, KernelsForComputeCapability10HaveEntriesOfTheirOwn) {
  constexpr Size blocks = 4096 / 256 + 2 * (4096 / 32 + 1) + 1;
  const auto on = [](const char* cards) {
    test::OnCards each("deepseek-ai/DeepSeek-V4.1-Flash", "fp8-block32-e8m0", cards, "vllm");
    each.s.kv_precision = &precision("fp8");
    return pool_of(each.s, 4096);
  };
  EXPECT_EQ(on("8x h100-sxm-80gb"), blocks * (3 * (74880 + 17280) + 149760 + 33984));
  EXPECT_EQ(on("8x b200-sxm-180gb"), blocks * (3 * 128 * (528 + 132) + 256 * (528 + 132)));
  EXPECT_EQ(on("2x rtx-5090"), on("8x h100-sxm-80gb")) << "compute capability 12.0";
}

/// A small Step-5. One layer of four looks at the whole context and has summaries of eight tokens
/// beside its pages of 16, in the same block. Each window is a group, and the ring is one more.
/// Source: vLLM 0.33 models/step5/nvidia/{sparse_summary_cache,csa_tail_ring}.py.
TEST(PackedPool, SummariesShareTheBlocksOfTheirLayers) {
  const Model model = make_model("small Step-5",
                                 parse_config(R"({
      "architectures": ["Step5ForCausalLM"], "model_type": "step5", "hidden_size": 512,
      "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8,
      "num_attention_groups": 2, "head_dim": 192, "vocab_size": 1024, "sliding_window": 512,
      "max_position_embeddings": 8192, "moe_num_experts": 4, "moe_top_k": 2,
      "moe_intermediate_size": 256, "share_expert_dim": 256, "moe_layers_enum": "2,3",
      "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention",
                      "full_attention"],
      "sparse_config": {"enabled": true, "proxy_dim": 256, "region_block_size": 8}})",
                                              "config.json"),
                                 "test");
  const QuantisedModel weights = quantise(model, scheme("bf16"));
  const Machine machine = test::machine(1, 80, 256);
  Scenario s = test::scenario(weights, machine, "vllm");
  constexpr Size page = 16 * 2 * 2 * 192 * 2, summaries = 16 / 8 * 256;
  EXPECT_EQ(pool_of(s, 4096), (4096 / 16 + 3 * (4096 / 16 + 1) + 1) * (page + summaries));
}

}  // namespace
}  // namespace headroom::model
