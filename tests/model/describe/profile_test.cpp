// Sums other than elements: layers that run several times, attention to few tokens, caches that
// code repeats for every query head.
#include "model/describe/profile.hpp"

#include <gtest/gtest.h>

#include "model/describe/architecture.hpp"
#include "model/describe/layer_numbers.hpp"
#include "model/infer/memory/attention_rules.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using test::catalogue_model;
using test::machine;
using test::scenario;

/// ALBERT (arXiv:1909.11942): two groups of one layer, run through by five passes: int(i / (5 /
/// 2)).
TEST(Profile, LayersThatRunSeveralTimesMultiplySeveralTimes) {
  const Part part = describe(parse_config(R"({"architectures": ["AlbertModel"],
      "model_type": "albert", "vocab_size": 100, "embedding_size": 8, "hidden_size": 16,
      "num_hidden_layers": 5, "num_hidden_groups": 2, "num_attention_heads": 2,
      "intermediate_size": 64, "max_position_embeddings": 32, "type_vocab_size": 2})",
                                          "config.json"));
  const Profile p = profile_of(part, 16);
  ASSERT_EQ(p.layers.size(), 2u);
  EXPECT_EQ(p.layers[0].passes, 3);
  EXPECT_EQ(p.layers[1].passes, 2);
  EXPECT_EQ(p.passes_before, (std::vector<Size>{0, 3, 5}));
  const double layer = 4 * 16 * 16 + 2 * 16 * 64;  // q, k, v, out; up and down
  EXPECT_EQ(p.multiplied_before, (std::vector<double>{0, 3 * layer, 5 * layer}));
  EXPECT_EQ(p.layers[0].sums.matmul, static_cast<Size>(layer)) << "held once";
}

/// Stacks that write a cache and stacks that do not, in any order. The tower of images is the stack
/// before the first layer with a cache, or else behind the last one.
TEST(Profile, OnlyTheLayersThatKeepACacheRunForEachToken) {
  const auto writes = [](std::string_view name) {
    return in(name, "Text", stack("layers", "Layer", 3, [](Size) {
                Part p = linear("up", 4, 8);
                p.caches = {kv_cache({.query = 1, .kv = 1, .dim = 4})};
                return p;
              }));
  };
  const auto reads = [](std::string_view name) {
    return in(name, "Tower", stack("layers", "Layer", 2, [](Size) { return linear("up", 4, 8); }));
  };
  const auto ranges = [](const Part& part) {
    const Profile p = profile_of(part, 4);
    const auto [first, end] = p.towers();
    return std::vector<Size>{p.first_decoding, p.end_decoding, first, end};
  };
  EXPECT_EQ(ranges(writes("a")), (std::vector<Size>{0, 3, 3, 3}));
  EXPECT_EQ(ranges(reads("a") + writes("b")), (std::vector<Size>{2, 5, 0, 2}));
  EXPECT_EQ(ranges(writes("a") + reads("b")), (std::vector<Size>{0, 3, 3, 5}));
  EXPECT_EQ(ranges(reads("a") + writes("b") + reads("c")), (std::vector<Size>{2, 5, 0, 2}));
  EXPECT_EQ(ranges(reads("a")), (std::vector<Size>{2, 2, 0, 2})) << "nothing is written";
}

/// A decoder with a token embedding and a table of n-grams, between two towers.
Part with_towers() {
  const auto tower = [](std::string_view name) {
    return in(name, "Tower", stack("layers", "Layer", 2, [](Size) { return linear("up", 4, 8); }));
  };
  return tower("vision_tower") +
         in("language_model", "Text",
            embedding("embed_tokens", 100, 4) +
                stack("layers", "Layer", 3,
                      [](Size) {
                        Part p = linear("up", 4, 8) + looked_up(embedding("ngrams", 1000, 2), 3);
                        p.caches = {kv_cache({.query = 1, .kv = 1, .dim = 4})};
                        return p;
                      })) +
         tower("audio_tower");
}

TEST(Profile, ATokenOfTextUsesRowsOfATableAndNoTower) {
  const Profile p = profile_of(with_towers(), 4);
  const Size up = 4 * 8;
  EXPECT_EQ(p.parameters, 100 * 4 + 3 * (up + 1000 * 2) + 4 * up);
  EXPECT_EQ(p.parameters_active, 100 * 4 + 3 * (up + 3 * 2));
}

TEST(Profile, ATowerAloneIsActive) {
  const Profile p = profile_of(in("vision_tower", "Tower", linear("up", 4, 8)), 4);
  EXPECT_EQ(p.parameters_active, 4 * 8);
}

TEST(Profile, LayersAreNumberedByStack) {
  const Profile p = profile_of(with_towers(), 4);
  EXPECT_EQ(layer_words(p, Range{0, 7}), "vision 0-1, decoder 0-2, audio 0-1");
  EXPECT_EQ(layer_words(p, Range{3, 6}), "1-2, audio 0");
  EXPECT_EQ(layer_words(p, Range{2, 3}), "0");
  EXPECT_EQ(layer_words(p, Range{2, 2}), "");
  EXPECT_EQ(layer_words(p, std::vector<Size>{0, 2, 4, 6}), "vision 0, decoder 0, 2, audio 1");
  EXPECT_EQ(layer_words(p, std::vector<Size>{0, 2, 4, 6}, 2), "vision 0, decoder 0, …");
}

/// DeepSeek-V3.2: index_topk 2048, 128 heads of 128 + 64 + 128; an indexer of 64 heads of 128 looks
/// at every token.
TEST(Profile, SparseAttentionLooksAtWhatItsIndexerPicks) {
  const QuantisedModel w = quantise(catalogue_model("deepseek-ai/DeepSeek-V3.2"), scheme("bf16"));
  const Machine m = machine(8, 80, 1000, 2000);
  const Scenario s = scenario(w, m, "vllm");
  const auto flops = [&](Size tokens) {
    return AttentionRules(s).over({0, 1}).decode_flops(s.batch, {.self = tokens}).value();
  };
  const double attention = 2.0 * 128 * (128 + 64 + 128), index = 2.0 * 64 * 128;
  EXPECT_DOUBLE_EQ(flops(2048), 2048 * (attention + index));
  EXPECT_DOUBLE_EQ(flops(100'000), 2048 * attention + 100'000 * index);
  // A prompt: the first 2048 tokens look at all before them.
  EXPECT_DOUBLE_EQ(AttentionRules(s).over({0, 1}).prompt_flops(s.batch, 10'000).value(),
                   (2048.0 * 2049 / 2 + 7952.0 * 2048) * attention + 10'000.0 * 10'001 / 2 * index);
  // transformers multiplies them all and masks what is not picked.
  const Scenario masked = scenario(w, m, "transformers");
  EXPECT_DOUBLE_EQ(
      AttentionRules(masked).over({0, 1}).decode_flops(masked.batch, {.self = 100'000}).value(),
      100'000 * (attention + index));
  // All tokens are kept whatever is looked at: 512 + 64 of the latent, 128 of the index in FP8 with
  // a scale.
  EXPECT_EQ(kv_cache(s, {.self = 16'000}, 0, 1).count(), 16'000 * (2 * (512 + 64) + 132));
  // In FP8, latents have a scale for every 128 of 512 and 64 rotated elements in 16 bit.
  Scenario in_fp8 = s;
  in_fp8.kv_precision = &precision("fp8");
  EXPECT_EQ(kv_cache(in_fp8, {.self = 16'000}, 0, 1).count(), 16'000 * (656 + 132));
  EXPECT_EQ(kv_cache(masked, {.self = 16'000}, 0, 1).count(), 16'000 * 2 * (512 + 64 + 128));
}

/// HRM-Text (arXiv:2506.21734): two cycles of three runs of the low stack and one of the high one.
TEST(Profile, StacksThatRunSeveralTimesReadTheirWeightsEachTime) {
  const Model model = make_model("hrm",
                                 parse_config(R"({"architectures": ["HrmTextForCausalLM"],
      "model_type": "hrm_text", "vocab_size": 100, "hidden_size": 16, "intermediate_size": 64,
      "num_layers_per_stack": 1, "num_hidden_layers": 1, "num_attention_heads": 2, "head_dim": 8,
      "H_cycles": 2, "L_cycles": 3, "max_position_embeddings": 32})",
                                              "config.json"),
                                 "test");
  const QuantisedModel w = quantise(model, scheme("bf16"));
  ASSERT_EQ(w.layer.size(), 2u);
  EXPECT_EQ(model.profile.layers[0].passes, 6);
  EXPECT_EQ(model.profile.layers[1].passes, 2);
  const double low = w.layer[0].real().value(), high = w.layer[1].real().value();
  EXPECT_EQ(w.read_dense, (std::vector<double>{0, 6 * low, 6 * low + 2 * high}));
  EXPECT_EQ(w.layers_before[2], w.layer[0] + w.layer[1]) << "held once";
}

/// Falcon-40B keeps 8 key-value heads; transformers repeats them for its 128 query heads before it
/// keeps them (modeling_falcon.py, _split_heads).
TEST(Profile, KeysAndValuesAreRepeatedWhereTheRuntimeDoes) {
  const QuantisedModel w = quantise(catalogue_model("tiiuae/falcon-40b"), scheme("bf16"));
  const Machine m = machine(8, 80, 1000, 2000);
  const auto bytes = [&](std::string_view runtime) {
    return kv_cache(scenario(w, m, runtime), {.self = 160}, 0, 1).count();
  };
  EXPECT_EQ(bytes("vllm"), 160 * 2 * 2 * 8 * 64);
  EXPECT_EQ(bytes("transformers"), 160 * 2 * 2 * 128 * 64);
}

/// A token runs through some layers several times. Each run multiplies by the same weights and
/// keeps keys and values of its own.
TEST(Profile, CountsEachRunOfLoopedLayers) {
  const auto profile_with = [](const std::string& runs) {
    return make_model(
               "looped",
               parse_config(R"({"architectures": ["Inkling2LoopForCausalLM"], "vocab_size": 64,
                 "model_type": "inkling2_loop_text", "hidden_size": 32, "num_hidden_layers": 6,
                 "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16,
                 "moe_intermediate_size": 8, "n_layers_per_attn_res_block": 2,
                 "loop_layer_index_start": 2,
                 "loop_layer_index_end": 4, "loop_num_passes": )" +
                                runs + "}",
                            "looped.json"),
               "test")
        .profile;
  };
  const Profile once = profile_with("1"), thrice = profile_with("3");
  EXPECT_EQ(thrice.parameters, once.parameters);
  EXPECT_EQ(thrice.passes_before.back(), once.passes_before.back() + 4);
  EXPECT_EQ(thrice.multiplied_before[3] - thrice.multiplied_before[2],
            3 * (once.multiplied_before[3] - once.multiplied_before[2]));
  EXPECT_EQ(thrice.multiplied_before[2], once.multiplied_before[2]);
}

}  // namespace
}  // namespace headroom::model
