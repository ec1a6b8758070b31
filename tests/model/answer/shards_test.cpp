// Memory of each card of a tensor-parallel group: sizes calculated by hand, logs of vLLM, and
// invariants.
#include "model/checkpoint/shards.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "hardware/units.hpp"
#include "model/answer/split_advice.hpp"
#include "model/infer/placement/placement.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using test::catalogue_model;
using test::machine;
using test::scenario;

const QuantisedModel& held(const std::string& name, const std::string& precision) {
  static std::map<std::pair<std::string, std::string>, QuantisedModel> all;
  auto it = all.find({name, precision});
  if (it == all.end())
    it = all.emplace(std::pair{name, precision}, quantise(catalogue_model(name), scheme(precision)))
             .first;
  return it->second;
}

/// The weights on each card. The plan must be feasible.
std::vector<Size> on_cards(const Scenario& s) {
  const Plan plan = place(s, 1.0);
  EXPECT_TRUE(plan.feasible()) << name_of(plan.reason);
  std::vector<Size> all;
  for (Size card = 0; card < plan.cards; ++card)
    all.push_back(card_use(s, plan, card).weights.count());
  return all;
}

TEST(Shards, OfLlamaByHand) {
  // Llama-3.1-8B in bf16 on 4 cards. Divided: q and o 4096², k and v 1024 × 4096, feed-forward 3 ×
  // 14336 × 4096. Whole: norms (2 × 4096 a layer, 4096 at the end). The embedding and the head have
  // 128256 rows, a multiple of 64 and of 4. One buffer of rotary frequencies has 2 × 64 × 4 bytes.
  const Machine box = machine(4, 80, 256);
  Scenario s = scenario(held("meta-llama/Meta-Llama-3.1-8B", "bf16"), box, "vllm");
  s.tensor_parallel = 4;
  const Size matrices = 2 * 4096 * 4096 + 2 * 1024 * 4096 + 3 * 14336 * 4096;
  const Size each =
      2 * (32 * (matrices / 4 + 2 * 4096) + 4096 + 2 * (128256 / 4) * 4096) + 2 * 64 * 4;
  EXPECT_EQ(on_cards(s), std::vector<Size>(4, each));
}

TEST(Shards, KeyValueHeadsRepeatWhereThereAreMoreCards) {
  // 8 key-value heads on 16 cards. Each card has a 16th of queries, outputs and feed-forward, and
  // an 8th of k and v.
  const QuantisedModel& w = held("meta-llama/Meta-Llama-3.1-8B", "bf16");
  const Divided layer = w.shards.layers(0, 1);
  EXPECT_EQ(layer.heads.count(), 2 * 2 * 1024 * 4096);
  EXPECT_EQ(layer.everywhere.count(), 2 * 2 * 4096);
  const Rank sixteen{.cards = 16, .expert_cards = 16};
  EXPECT_EQ(w.shards.of_rank(layer, sixteen).count(),
            2 * (2 * 4096 + 2 * 128 * 4096 + (2 * 4096 * 4096 + 3 * 14336 * 4096) / 16));
}

TEST(Shards, LinearAttentionIsNotDividedByHeadsOfTheCache) {
  // vLLM 0.19 model_executor/models/qwen3_next.py: in_proj_qkvz is a ColumnParallelLinear of 16 key
  // heads. The two heads of the KV cache do not limit its division.
  const QuantisedModel& w = held("Qwen/Qwen3.5-122B-A10B", "bf16");
  ASSERT_EQ(w.shards.kv_heads, 2);
  // 27 layers see images before the first that decodes.
  EXPECT_EQ(w.shards.layers(27, 28).heads, Bytes(0));
  // The fourth that decodes has K and V of two heads of 256: 2 bytes of 3072 inputs.
  EXPECT_EQ(w.shards.layers(30, 31).heads, Bytes(2 * 2 * 2 * 256 * 3072));
}

TEST(Shards, LargestPartsOfLlamaCppEndAtBlocks) {
  // 704 on two cards: 352, down to 256, so that the second has 448, of 352 evenly.
  EXPECT_DOUBLE_EQ(largest_part(704, 128, 2), 448.0 / 352);
  // 2880 on four: they end at 640, 1408, 2048 and 2880, so that the last has 832 of 720.
  EXPECT_DOUBLE_EQ(largest_part(2880, 128, 4), 832.0 / 720);
  // 768 in blocks of 256: 256 and 512.
  EXPECT_DOUBLE_EQ(largest_part(768, 256, 2), 512.0 / 384);
  EXPECT_DOUBLE_EQ(largest_part(4096, 256, 4), 1);
}

TEST(Shards, SharedExpertsAreWholeWhereTheEngineCopiesThem) {
  const QuantisedModel& w = held("Qwen/Qwen3.5-122B-A10B", "bf16");
  const Divided layer = w.shards.layers(30, 31);
  // Gate, up and down of 1024 by 3072.
  const Bytes shared(2 * 3 * 1024 * 3072);
  EXPECT_EQ(layer.shared, shared);
  const Bytes divided = w.shards.of_rank(layer, {.cards = 2, .expert_cards = 2});
  const Bytes whole =
      w.shards.of_rank(layer, {.cards = 2, .expert_cards = 2, .shared_whole = true});
  EXPECT_EQ(whole - divided, Bytes(shared.count() / 2));
}

TEST(Shards, LatentProjectionsAndRoutersAreWholeOnEachCard) {
  // DeepSeek-V3: hidden 7168, q rank 1536, kv rank 512 + 64, and 128 heads of 128 + 64 and 128. It
  // has 256 experts of 2048 and one shared expert. Layer 3 is the first with experts.
  const QuantisedModel& w = held("deepseek-ai/DeepSeek-V3", "bf16");
  const Divided layer = w.shards.layers(3, 4);
  const Size down = 7168 * 1536 + 7168 * 576, norms = 2 * 7168 + 1536 + 512, router = 256 * 7168;
  EXPECT_EQ(layer.everywhere.count(), 2 * (down + norms + router) + 256 * 4);  // fp32 correction
  const Size up = 1536 * 128 * 192 + 512 * 128 * 256 + 128 * 128 * 7168;
  EXPECT_EQ(layer.split.count(), 2 * (up + 3 * 2048 * 7168));
  EXPECT_EQ(layer.experts.count(), Size{2} * 256 * 3 * 2048 * 7168);
  EXPECT_EQ(layer.heads.count(), 0);
}

TEST(Shards, TheVocabularyIsPaddedTo64Rows) {
  // GPT-2: 50257 rows become 50304, half of them on each of two cards. Every card has all
  // positions.
  const Machine box = machine(2, 24, 64);
  Scenario s = scenario(held("openai-community/gpt2", "fp16"), box, "vllm");
  s.tensor_parallel = 2;
  const Shards& shards = s.weights->shards;
  const Rank rank{.cards = 2, .expert_cards = 2, .vocabulary_multiple = 64};
  EXPECT_EQ(shards.of_rank(shards.embedding, rank).count(), 2 * 768 * (50304 / 2 + 1024));
}

/// Source: vLLM 0.33 config/engram.py cpu_offload, models/deepseek_v41/common/engram.py: rows of
/// 256 FP8 elements and 8 bytes of scales, in two layers.
TEST(Shards, TablesInLayersStayInHostMemoryWhereTheEngineLeavesThemThere) {
  constexpr Size tables = (Size{384006168} + 384016682) * (256 + 8);
  test::OnCards on("deepseek-ai/DeepSeek-V4.1-Flash", "fp8-block32-e8m0", "8x h200-sxm-141gb",
                   "vllm");
  on.s.tensor_parallel = 8;
  EXPECT_EQ(on.weights.shards.before.back().rows.count(), tables);
  const auto weights = [](const Scenario& s) {
    const Uses uses(s);
    const Plan plan = place(s, 1.0);
    return std::pair(uses.weights(plan, 0).count(), uses.host(plan).weights.count());
  };
  const auto [card, host] = weights(on.s);
  EXPECT_EQ(host, tables);
  Engine without = *on.s.runtime;
  without.offload.tables_on_host = false;
  Scenario other = on.s;
  other.runtime = &without;
  const auto [whole_card, whole_host] = weights(other);
  EXPECT_EQ(whole_card - card, tables / 8);
  EXPECT_EQ(whole_host, 0);
  EXPECT_EQ(evaluate(on.s).tpot, evaluate(other).tpot) << "a token reads a few rows of either";
  on.s.ram_budget = Bytes(tables);  // nothing is left for the process
  EXPECT_EQ(evaluate(on.s).reason, Reason::ram);
}

TEST(Shards, OutputBiasesAreWholeAndInputBiasesDivided) {
  // GPT-2: in a layer, biases of 3 × 768 and 4 × 768 belong to matrices with divided outputs.
  // Biases of 768 and 768 belong to matrices with divided inputs.
  const Divided layer = held("openai-community/gpt2", "fp16").shards.layers(0, 1);
  EXPECT_EQ(layer.everywhere.count(), 2 * (2 * 768 + 4 * 768));  // and two norms with biases
  EXPECT_EQ((layer.split + layer.heads).count(), 2 * (12 * 768 * 768 + 7 * 768));
}

struct LoggedShard {
  const char* model;
  const char* precision;
  Size cards;
  double gib;     ///< "Model loading took … GiB" on each card
  double within;  ///< relative
};
/// vLLM 0.11 on H100s: llm-d-incubation/llm-d-planner@e50305af
/// docs/empirical-vllm-memory-results.md.
constexpr LoggedShard logged_shards[] = {
    {"meta-llama/Meta-Llama-3.1-8B", "bf16", 1, 14.99, 0.005},
    {"meta-llama/Llama-3.3-70B-Instruct", "fp8-channel", 2, 33.88, 0.005},
    {"meta-llama/Llama-3.3-70B-Instruct", "fp8-channel", 1, 67.72, 0.005},
};
TEST(Shards, AgreeWithWhatVllmLogs) {
  for (const LoggedShard& row : logged_shards) {
    const Machine box = machine(row.cards, 200, 256);
    Scenario s = scenario(held(row.model, row.precision), box, "vllm");
    s.tensor_parallel = row.cards;
    EXPECT_NEAR(static_cast<double>(on_cards(s).front()) / GiB, row.gib, row.gib * row.within)
        << row.model << " on " << row.cards;
  }
}

TEST(Shards, ExpertsSpreadWholeOrSplit) {
  // Mixtral: 8 experts of 3 × 14336 × 4096 a layer. Five cards have 2, 2, 2, 1 and 1 of them (vLLM
  // determine_expert_map). If experts are divided instead, each of eight cards has an eighth of
  // every expert.
  const QuantisedModel& w = held("mistralai/Mixtral-8x7B-v0.1", "bf16");
  const Bytes experts = w.shards.layers(0, 1).experts;
  const Size one = Size{2} * 3 * 14336 * 4096;
  ASSERT_EQ(experts.count(), 8 * one);
  for (const auto& [index, own] : {std::pair<Size, Size>{0, 2}, {2, 2}, {3, 1}, {4, 1}})
    EXPECT_EQ(
        w.shards.experts_of_rank(experts, {.expert_cards = 5, .expert_groups = 5, .index = index})
            .count(),
        own * one);
  EXPECT_EQ(w.shards.experts_of_rank(experts, {.expert_cards = 8}).count(), one);
  // Two groups of four cards: each card has a quarter of four experts.
  EXPECT_EQ(w.shards.experts_of_rank(experts, {.expert_cards = 8, .expert_groups = 2}).count(),
            one);
}

TEST(Shards, RanksTogetherHaveAllWeights) {
  for (const char* name :
       {"meta-llama/Meta-Llama-3.1-8B", "deepseek-ai/DeepSeek-V2-Lite", "openai/gpt-oss-20b",
        "google/gemma-2-9b", "Qwen/Qwen3-30B-A3B", "state-spaces/mamba-2.8b-hf",
        "ai21labs/Jamba-v0.1", "Qwen/Qwen2.5-VL-7B-Instruct", "openai-community/gpt2"})
    for (const char* precision : {"bf16", "fp8-block"}) {
      const QuantisedModel& w = held(name, precision);
      const Shards& shards = w.shards;
      const Size layers = std::ssize(w.layer);
      EXPECT_EQ(shards.layers(0, layers).sum() + shards.embedding.sum() + shards.head.sum(),
                w.total)
          << name;
      for (Size layer = 0; layer < layers; ++layer)
        ASSERT_EQ(shards.layers(layer, layer + 1).sum(), w.layer[static_cast<std::size_t>(layer)]);
      Bytes before = w.total + Bytes(1);
      for (const Size cards : {1, 2, 4, 8}) {
        const Rank rank{.cards = cards, .expert_cards = cards};
        const Bytes each = shards.of_rank(shards.layers(0, layers), rank) +
                           shards.of_rank(shards.embedding, rank) +
                           shards.of_rank(shards.head, rank);
        EXPECT_GE(cards * each, w.total) << name << ' ' << cards;
        EXPECT_LT(each, before) << name << ' ' << cards;
        before = each;
      }
    }
}

// The plan uses the smallest number of cards. Smaller numbers do not fit the model.
TEST(Shards, AsManyCardsAsDivideTheModel) {
  std::set<Size> seen;
  for (const char* name : {"meta-llama/Llama-3.3-70B-Instruct", "deepseek-ai/DeepSeek-V2.5",
                           "openai/gpt-oss-120b", "Qwen/Qwen3-30B-A3B", "Qwen/Qwen2.5-14B"})
    for (const char* cards :
         {"8x h100-sxm-80gb", "6x h100-sxm-80gb", "2x rtx-3090 + 2x l40s @ epyc-rome-512gb"})
      for (const Size stages : {1, 2}) {
        test::OnCards on(name, "bf16", cards, "vllm");
        on.s.pipeline_parallel = stages;
        const Plan plan = place(on.s, 1.0);
        seen.insert(plan.shards);
        const Size most = std::ssize(on.s.machine->devices) / stages;
        for (on.s.tensor_parallel = plan.shards + 1; on.s.tensor_parallel <= most;
             ++on.s.tensor_parallel)
          EXPECT_TRUE(is_of_split(place(on.s, 1.0).reason)) << name << ' ' << on.s.tensor_parallel;
      }
  EXPECT_GT(seen.size(), 2u);
}

// Equal cards of a group store the same weights. A card of another kind stores the weights of a
// group of its kind.
TEST(Shards, PadToTheCardsTiles) {
  const auto uses = [](const char* cards) {
    test::OnCards on("openai/gpt-oss-20b", "mxfp4", cards, "vllm");
    on.s.tensor_parallel = 2;
    const Uses of(on.s);
    const Plan plan = place(of, 1.0);
    return std::pair(of.card(plan, 0).weights, of.card(plan, 1).weights);
  };
  const auto [ampere, other] = uses("1x a100-sxm-80gb + 1x h100-sxm-80gb");
  EXPECT_NE(ampere, other);
  EXPECT_EQ(uses("2x a100-sxm-80gb"), std::pair(ampere, ampere));
  EXPECT_EQ(uses("2x h100-sxm-80gb"), std::pair(other, other));
}

}  // namespace
}  // namespace headroom::model
