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

}  // namespace
}  // namespace headroom::model
