// MLX: bytes of its groups by hand, its checkpoints, and the engine that runs them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hardware/catalogue.hpp"
#include "model/checkpoint/model.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/card_class.hpp"
#include "model/engine/runs_on.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

constexpr std::int64_t hidden = 256, inner = 512, vocabulary = 1000;

/// A Llama of one layer with four heads of 64, two of keys and values. The head is its own matrix.
Model mlx_llama(std::string_view more) {
  return make_model(
      "small",
      parse_config(fmt::format(R"({{"architectures":["LlamaForCausalLM"],"model_type":"llama",
      "hidden_size":256,"intermediate_size":512,"num_attention_heads":4,"num_key_value_heads":2,
      "vocab_size":1000,"num_hidden_layers":1,"tie_word_embeddings":false,
      "torch_dtype":"bfloat16"{}}})",
                               more),
                   "config.json"),
      "");
}

/// Norms in 16 bit, and two rotary tables of 32 numbers in fp32.
constexpr std::int64_t norms = 2 * 3 * hidden + 2 * 4 * 32;
constexpr std::int64_t matrices =
    2 * vocabulary * hidden + 2 * hidden * hidden + 2 * 128 * hidden + 3 * inner * hidden;

/// Codes, and a scale and a bias of 16 bits for each group. The embedding and the head are among
/// the matrices.
constexpr std::int64_t affine(std::int64_t elements, std::int64_t bits, std::int64_t group) {
  return elements * bits / 8 + elements / group * 4;
}

TEST(Mlx, PacksEveryMatrix) {
  const Model model = mlx_llama("");
  for (const std::int64_t bits : {2, 3, 4, 5, 6, 8})
    EXPECT_EQ(quantise(model, scheme(fmt::format("mlx-{}bit", bits))).total.count(),
              affine(matrices, bits, 64) + norms)
        << bits;
  EXPECT_EQ(quantise(model, scheme("mlx-4bit-32g")).total.count(), affine(matrices, 4, 32) + norms);
  EXPECT_EQ(quantise(model, scheme("mlx-mxfp4")).total.count(), matrices / 32 * 17 + norms);
  EXPECT_EQ(quantise(model, scheme("mlx-nvfp4")).total.count(), matrices / 16 * 9 + norms);
  EXPECT_EQ(scheme("mlx-4bit").packed({1, 1, 64}, scheme("mlx-4bit")).count(), 36);
}

/// Source: mlx-lm 0.32.2 utils.py wrapped_predicate: rows that are not whole groups.
TEST(Mlx, KeepsRowsOfPartGroups) {
  Model model;
  model.checkpoint_scheme = "bf16";
  model.shape.hidden_size = 96;
  model.part = stack("layers", "Block", 1, [](Size) {
    Part block = linear("up", 96, 128) + linear("down", 128, 96);
    return block;
  });
  model.profile = profile_of(model.part, 96);
  EXPECT_EQ(quantise(model, scheme("mlx-4bit")).total.count(),
            2 * 96 * 128 + affine(96 * 128, 4, 64));
}

TEST(Mlx, ReadsCheckpoints) {
  EXPECT_EQ(mlx_llama(R"(,"quantization":{"group_size":64,"bits":4})").checkpoint_scheme,
            "mlx-4bit");
  EXPECT_EQ(
      mlx_llama(R"(,"quantization":{"group_size":32,"bits":6,"mode":"affine"})").checkpoint_scheme,
      "mlx-6bit-32g");
  EXPECT_EQ(mlx_llama(R"(,"quantization":{"group_size":32,"bits":4,"mode":"mxfp4"},
      "quantization_config":{"group_size":32,"bits":4,"mode":"mxfp4"})")
                .checkpoint_scheme,
            "mlx-mxfp4");
  EXPECT_THROW(mlx_llama(R"(,"quantization":{"group_size":64,"bits":7})"), ConfigError);
  EXPECT_THROW(mlx_llama(R"(,"quantization":{"group_size":48,"bits":4})"), ConfigError);
  EXPECT_THROW(mlx_llama(R"(,"quantization":{"group_size":64,"bits":4,"mode":"nf4"})"),
               ConfigError);
}

/// Source: mlx-lm 0.32.2 utils.py quantize_model: a module's path has its own settings.
TEST(Mlx, ModulesHaveTheirOwnSettings) {
  const Model model = mlx_llama(R"(,"quantization":{"group_size":64,"bits":4,
      "model.embed_tokens":{"group_size":64,"bits":8},"lm_head":false})");
  const std::int64_t table = vocabulary * hidden;
  EXPECT_EQ(quantise(model, scheme(model.checkpoint_scheme)).total.count(),
            affine(matrices - 2 * table, 4, 64) + affine(table, 8, 64) + 2 * table + norms);
  EXPECT_FALSE(is_doubtful(model));
}

TEST(Mlx, RunsOnAppleCardsAlone) {
  const Engine& mlx = engine("mlx-lm");
  const Catalogue& rows = shipped_catalogue();
  EXPECT_TRUE(runs_on(mlx, parse_machine("1x m2-max-64gb", rows)));
  EXPECT_FALSE(runs_on(mlx, parse_machine("1x rtx-4090", rows)));
  const auto verdict = [](const char* precision, const char* cards) {
    const test::OnCards c("meta-llama/Llama-3.1-8B", precision, cards, "mlx-lm");
    return evaluate(c.s).verdict;
  };
  EXPECT_EQ(verdict("mlx-4bit", "1x m2-max-64gb"), Verdict::fits_one_gpu);
  EXPECT_EQ(verdict("bf16", "1x m2-max-64gb"), Verdict::fits_one_gpu);
  EXPECT_EQ(verdict("q4_K_M", "1x m2-max-64gb"), Verdict::refused);
  EXPECT_EQ(verdict("mlx-4bit", "1x rtx-4090"), Verdict::refused);
}

/// Source: mlx-lm 0.32.2 models/cache.py KVCache: step 256; 131072 bytes a token.
TEST(Mlx, CachesGrowBySteps) {
  test::OnCards c("meta-llama/Llama-3.1-8B", "mlx-4bit", "1x m2-max-64gb", "mlx-lm");
  c.s.context = 513;
  EXPECT_EQ(evaluate(c.s).kv_cache.count(), 768 * Size{131072});
}

/// Few rows of MLX are in the constants. Each number says how many, and is as wide as they make it.
TEST(Mlx, ConstantsSayHowFewRowsTheyHave) {
  const Engine &mlx = engine("mlx-lm"), &llama = engine("llama.cpp");
  const auto apple = static_cast<std::size_t>(CardClass::apple);
  const auto four = static_cast<std::size_t>(Width::four);
  const KernelEfficiency &ours = mlx.kernels.efficiency[apple][four],
                         &theirs = llama.kernels.efficiency[apple][four];
  const int most = theirs.decode_bandwidth.measurements;
  for (const auto member : {&KernelEfficiency::decode_bandwidth, &KernelEfficiency::prefill_compute,
                            &KernelEfficiency::kernel_s, &KernelEfficiency::expert_reads}) {
    EXPECT_LT((ours.*member).measurements, most);
    EXPECT_GT((ours.*member).high / (ours.*member).low, 1.05);
  }
}

}  // namespace
}  // namespace headroom::model
