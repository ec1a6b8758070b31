// The share of a card that SGLang gives to weights and caches, by hand from its source.
#include "model/infer/memory/static_share.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "hardware/catalogue.hpp"
#include "model/infer/memory/activation.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/placement/cache_room.hpp"
#include "model/infer/placement/placement.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

constexpr const char* dense = "meta-llama/Llama-3.1-8B";
constexpr const char* latent = "deepseek-ai/DeepSeek-V2-Lite";

struct Subject {
  Subject(const std::string& model, const char* engine, double mebibytes,
          const char* vendor = "nvidia")
      : weights(quantise(test::catalogue_model(model), scheme("bf16"))),
        box(test::machine(8, 1, 512)) {
    for (Device& card : box.devices) {
      set_memory(card, Bytes(static_cast<Size>(mebibytes * (1 << 20))));
      card.vendor = vendor;
    }
    s = test::scenario(weights, box, engine);
  }
  QuantisedModel weights;
  Machine box;
  Scenario s;
};

struct Worked {
  double memory;  ///< MiB, as nvidia-smi shows it
  Size shards, stages;
  const char* model;
  double reserve;  ///< MiB
};

/// SGLang 0.5.23 memory_hook.py. Captured sizes up to 2048, 4096, 8192 and 16384 tokens are 42, 50,
/// 58 and 74 (cuda_graph_hook.py, generate_prefill_cuda_graph_batch_sizes).
TEST(StaticShare, IsWhatTheSourceComputes) {
  const std::vector<Worked> rows = {
      // RTX 4080, 2048 tokens, 8 sequences: 512 + 1.5 * 2048 + 128 * cards + 2 * 8 + 8 * 42
      {16376, 1, 1, dense, 512 + 3072 + 128 + 16 + 336},
      {16376, 2, 1, dense, 512 + 3072 + 256 + 16 + 336},
      {16376, 8, 1, dense, 512 + 3072 + 1024 + 16 + 336},
      {16376, 1, 1, latent, 512 + 3072 + 128 + 16 + 1536},
      // RTX 4090, 4096 tokens, 48 sequences, or 160 where four cards divide each matrix
      {24564, 1, 1, dense, 512 + 6144 + 128 + 96 + 400},
      {24564, 2, 1, dense, 512 + 6144 + 256 + 96 + 400},
      {24564, 8, 1, dense, 512 + 6144 + 1024 + 320 + 400},
      {24564, 2, 1, latent, 512 + 6144 + 256 + 96 + 1536},
      // RTX 5090
      {32607, 1, 1, dense, 512 + 6144 + 128 + 96 + 400},
      {32607, 8, 1, latent, 512 + 6144 + 1024 + 320 + 1536},
      // L40S, 4096 tokens, 32 or 160 sequences
      {46068, 1, 1, dense, 512 + 6144 + 128 + 64 + 400},
      {46068, 8, 1, dense, 512 + 6144 + 1024 + 320 + 400},
      {46068, 1, 1, latent, 512 + 6144 + 128 + 64 + 1536},
      // H100, 8192 tokens, 256 or 512 sequences: beyond the 10 GiB
      {81559, 1, 1, dense, 512 + 12288 + 128 + 512 + 464},
      {81559, 2, 1, dense, 512 + 12288 + 256 + 512 + 464},
      {81559, 8, 1, dense, 512 + 12288 + 1024 + 1024 + 464},
      {81559, 8, 1, latent, 512 + 12288 + 1024 + 1024 + 1536},
      // two stages of four: no prefill pass is captured
      {81559, 4, 2, dense, 512 + 12288 + 1024 + 1024},
      // H200
      {143771, 1, 1, dense, 512 + 12288 + 128 + 512 + 464},
      {143771, 8, 1, latent, 512 + 12288 + 1024 + 1024 + 1536},
      // B200 with 192 GB in all, 16384 tokens, 512 sequences
      {183359, 1, 1, dense, 512 + 24576 + 128 + 1024 + 592},
      {183359, 8, 1, latent, 512 + 24576 + 1024 + 1024 + 1536},
  };
  for (const Worked& row : rows) {
    const Subject at(row.model, "sglang", row.memory);
    const double share = std::round(1000 * (row.memory - row.reserve) / row.memory) / 1000;
    EXPECT_DOUBLE_EQ(static_share(at.s, {row.shards, row.stages}), share)
        << row.memory << " MiB, " << row.shards << " x " << row.stages << ", " << row.model;
  }
}

/// The figures themselves, as a person would write them for --mem-fraction-static.
TEST(StaticShare, OfKnownCards) {
  EXPECT_DOUBLE_EQ(static_share(Subject(dense, "sglang", 24564).s, CardGrid{}), 0.704);
  EXPECT_DOUBLE_EQ(static_share(Subject(dense, "sglang", 81559).s, CardGrid{}), 0.83);
  EXPECT_DOUBLE_EQ(static_share(Subject(dense, "sglang", 143771).s, CardGrid{}), 0.903);
}

/// Replicas of the attention: 3 MiB for each captured sequence and replica, 4.5 MiB beyond 300
/// sequences. The chunk of a replica is its part of the engine's.
TEST(StaticShare, ReplicasOfTheAttentionLeaveMore) {
  const auto share = [](double memory, double reserve) {
    return std::round(1000 * (memory - reserve) / memory) / 1000;
  };
  Subject large(latent, "sglang", 143771), small(latent, "sglang", 46068);
  large.s.data_parallel = large.s.expert_parallel = 8;
  EXPECT_EQ(prefill_chunk(large.s), 1024);
  EXPECT_DOUBLE_EQ(static_share(large.s, {1, 1, 8}),
                   share(143771, 512 + 12288 + 1024 + 1024 + 1536 + 512 * 8 * 4.5));
  small.s.data_parallel = 4;
  small.s.expert_parallel = 8;
  EXPECT_EQ(prefill_chunk(small.s), 1024);
  EXPECT_DOUBLE_EQ(static_share(small.s, {2, 1, 4}),
                   share(46068, 512 + 6144 + 1024 + 320 + 1536 + 160 * 4 * 3));
}

TEST(StaticShare, OfOlderVersions) {
  const auto of = [](const char* engine, double mebibytes, Size shards) {
    return static_share(Subject(dense, engine, mebibytes).s, {shards});
  };
  // 0.5.19: 2048 tokens and 24 sequences on 24 GiB; 0.5.9 without captured prefill passes.
  EXPECT_DOUBLE_EQ(of("sglang@0.5.19", 24564, 1), 0.833);  // 512 + 3072 + 128 + 48 + 336
  EXPECT_DOUBLE_EQ(of("sglang@0.5.9", 24564, 1), 0.847);   // 512 + 3072 + 128 + 48
  EXPECT_DOUBLE_EQ(of("sglang@0.5.3", 24564, 1), 0.848);   // 16 sequences
  EXPECT_DOUBLE_EQ(of("sglang@0.5.9", 81559, 1), 0.835);   // 512 + 12288 + 128 + 512
  // 0.5.2: 2.8 GiB and 0.1 a card below 35 GiB, 9.5 and 0.5 below 90, 12 and 0.5 below 160, 32.
  EXPECT_DOUBLE_EQ(of("sglang@0.5.2", 24564, 1), 0.879);
  EXPECT_DOUBLE_EQ(of("sglang@0.5.2", 81559, 1), 0.874);
  EXPECT_DOUBLE_EQ(of("sglang@0.5.2", 81559, 8), 0.831);
  EXPECT_DOUBLE_EQ(of("sglang@0.4.8", 143771, 1), 0.911);
  EXPECT_DOUBLE_EQ(of("sglang@0.5.2", 183359, 8), 0.821);
  // 0.4.7: by the number of cards, beyond 80 GiB 13 GiB.
  EXPECT_DOUBLE_EQ(of("sglang@0.4.6", 81559, 1), 0.88);
  EXPECT_DOUBLE_EQ(of("sglang@0.4.6", 81920, 2), 0.87);
  EXPECT_DOUBLE_EQ(of("sglang@0.4.6", 24564, 8), 0.81);
  EXPECT_DOUBLE_EQ(of("sglang@0.4.6", 143771, 8), 0.907);
}

TEST(StaticShare, OtherMakersEagerStepsAndLongContextsChangeIt) {
  // 192 GiB without captured prefill passes: 512 + 24576 + 128 + 1024.
  const Subject amd(dense, "sglang", 196592, "amd");
  EXPECT_DOUBLE_EQ(static_share(amd.s, CardGrid{}), 0.867);
  Scenario longer = amd.s;
  longer.context = 8193;
  EXPECT_DOUBLE_EQ(static_share(longer, CardGrid{}), 0.867 * 0.85);
  const Subject nvidia(dense, "sglang", 81559);
  Scenario eager = nvidia.s;
  eager.enforce_eager = true;
  EXPECT_DOUBLE_EQ(static_share(eager, CardGrid{}), 0.841);  // 512 + 12288 + 128
  eager.context = 8193;
  EXPECT_DOUBLE_EQ(static_share(eager, CardGrid{}), 0.841);
}

/// adjust_mem_fraction_for_vlm. Gemma 3: 27 layers of 1152, so 0.95 * (1 - 0.1 * (27 * 1152^2 / (24
/// * 1024^2) - 1)). No prefill pass is captured: 512 + 12288 + 128 + 512.
TEST(StaticShare, AVisionTowerTakesPartOfIt) {
  const Subject at("google/gemma-3-27b-it", "sglang", 81559);
  const double size = 27.0 * 1152 * 1152 / (24.0 * 1024 * 1024);
  EXPECT_NEAR(static_share(at.s, CardGrid{}), 0.835 * 0.95 * (1 - 0.1 * (size - 1)), 1e-12);
}

/// kv_cache_configurator.py: what is free after loading, less (1 - share) of what was free before.
TEST(StaticShare, CachesGetWhatWeightsLeaveOfIt) {
  const Subject at(dense, "sglang", 81559);
  Scenario s = at.s;
  s.tensor_parallel = 1;
  s.context = 8192;
  const Plan plan = place(s, 1.0);
  const CardUse use = card_use(s, plan, 0);
  const auto room = cache_room(s, plan);
  ASSERT_TRUE(room);
  const double free = real_count(usable_memory(at.box.devices[0]) - use.context);
  const double weights = real_count(use.weights) * (1 + s.runtime->memory.fragmentation.value);
  EXPECT_NEAR(real_count(room->available), 0.83 * free - weights, 16);
  // The work of a pass does not lower it, nor does a larger batch.
  s.prompt_tokens = 8000;
  s.batch = 32;
  EXPECT_EQ(cache_room(s, place(s, 1.0))->available, room->available);
}

TEST(StaticShare, TheShareThatIsAskedForCountsInItsPlace) {
  const Subject at(dense, "sglang", 24564);
  Scenario s = at.s;
  s.tensor_parallel = 1;
  s.context = 8192;
  const auto own = cache_room(s, place(s, 1.0));
  s.gpu_share = 0.85;
  EXPECT_DOUBLE_EQ(static_share(s, CardGrid{}), 0.85);
  const auto more = cache_room(s, place(s, 1.0));
  ASSERT_TRUE(own && more);
  const double free =
      real_count(usable_memory(at.box.devices[0]) - card_use(s, place(s, 1.0), 0).context);
  EXPECT_NEAR(real_count(more->available - own->available), (0.85 - 0.704) * free, 16);
  EXPECT_EQ(card_budget(s, 0), usable_memory(at.box.devices[0]));
}

/// Weights of 14.96 GiB and 64 KiB of cache a token and layer pair fill the share, not the card.
TEST(StaticShare, SequencesBeyondItWait) {
  const Subject at(dense, "sglang", 24564);
  Scenario s = at.s;
  s.tensor_parallel = 1;
  s.context = 8192;
  s.batch = 64;
  const Scenario runs = admitted_scenario(s);
  const auto room = cache_room(s, place(runs, 1.0));
  ASSERT_TRUE(room);
  EXPECT_EQ(runs.batch, static_cast<Size>(room->sequences));
  EXPECT_LT(runs.batch, 2);
}

/// Qwen3.6-27B has 16 layers with 4 * 256 keys and as many values: 65,536 bytes a token. The other
/// 48 carry 48 * 128 * 128 elements in fp32 and 3 inputs of 10,240 in 16 bit: 153,944,064 bytes,
/// with which a start-up log (SGLang 0.5.18, 124 slots and a spare one in 17.92 GiB) agrees. States
/// have 0.9 times the bytes of keys and values, and five slots for each sequence.
TEST(StaticShare, RecurrentStatesHaveBytesOfTheirOwn) {
  constexpr double token = 65536, state = 48 * (48.0 * 128 * 128 * 4 + 3 * 10240 * 2);
  const Subject at("Qwen/Qwen3.6-27B", "sglang", 81559);
  Scenario s = at.s;
  s.tensor_parallel = 1;
  s.context = 4096;
  const auto room = cache_room(s, place(s, 1.0));
  ASSERT_TRUE(room);
  const double available = real_count(room->available);
  EXPECT_NEAR(static_cast<double>(room->tokens), available / 1.9 / token, 4096);
  EXPECT_NEAR(room->sequences, available * 0.9 / 1.9 / (5 * state), 0.01);
  EXPECT_NEAR(static_cast<double>(room->longest), available / 1.9 / token, 16);
  // The needs of one sequence fit into all of the pool, and not into its part for tokens.
  s.context = room->longest;
  EXPECT_TRUE(place(s, 1.0).feasible());
  s.context = room->longest + 64;
  EXPECT_FALSE(place(s, 1.0).feasible());
  // Before 0.5.14 radix caching tracks no states: three slots.
  Subject older("Qwen/Qwen3.6-27B", "sglang-0.5.13", 81559);
  older.s.tensor_parallel = 1;
  older.s.context = 4096;
  const auto before = cache_room(older.s, place(older.s, 1.0));
  ASSERT_TRUE(before);
  EXPECT_NEAR(before->sequences, real_count(before->available) * 0.9 / 1.9 / (3 * state), 0.01);
}

/// Start-up logs on GB10: 110 to 113 of 121.7 GiB are free before weights are loaded.
TEST(StaticShare, TheHostHasAPartOfUnifiedMemory) {
  Subject at(dense, "sglang", 122570);
  at.s.tensor_parallel = 1;
  at.s.context = 8192;
  const auto apart = cache_room(at.s, place(at.s, 1.0));
  at.box.devices.front().unified_memory = true;
  const auto shared = cache_room(at.s, place(at.s, 1.0));
  ASSERT_TRUE(apart && shared);
  const double host = at.s.runtime->memory.host_of_unified_bytes.value;
  EXPECT_GT(host, 5e9);
  EXPECT_NEAR(real_count(apart->available - shared->available),
              static_share(at.s, CardGrid{}) * host, 16);
}

/// sgl-project/sglang issue 5755: "Tried to allocate 80.04 GiB" for Llama-4-Scout, whose positions
/// are 10485760, at the usual 2048 requests.
TEST(StaticShare, RequestsHaveATableOfTheirPositions) {
  Subject of(dense, "sglang-0.4", 81559);
  of.s.max_sequences = 2048;
  of.s.longest_request = 10485760;
  EXPECT_NEAR(real_count(request_table(of.s)) / 1073741824.0, 80.04, 0.005);
  of.s.longest_request = 0;
  EXPECT_LT(request_table(of.s), Bytes(Size{1} << 30));
}

TEST(StaticShare, ChunksGoByTheCard) {
  EXPECT_EQ(prefill_chunk(Subject(dense, "sglang", 16376).s), 2048);
  EXPECT_EQ(prefill_chunk(Subject(dense, "sglang", 24564).s), 4096);
  EXPECT_EQ(prefill_chunk(Subject(dense, "sglang", 81559).s), 8192);
  EXPECT_EQ(prefill_chunk(Subject(dense, "sglang", 183359).s), 16384);
  EXPECT_EQ(prefill_chunk(Subject(dense, "tensorrt-llm", 183359).s), 8192);
}

}  // namespace
}  // namespace headroom::model
