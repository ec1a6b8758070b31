// Blocks of a pool for caches with different entries.
#include "model/infer/memory/packed_pool.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace headroom::model
