// Contexts that engines reserve when none is asked for.
#include <gtest/gtest.h>

#include "model/engine/engine_rows.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// The context of Llama-3.1-8B (131072 positions) on `cards` of `gib` each.
Size context_on(const char* engine, Size cards, Size gib) {
  const QuantisedModel weights =
      quantise(test::catalogue_model("meta-llama/Llama-3.1-8B"), scheme("q4_K_M"));
  const Machine box = test::machine(cards, gib, 64);
  return test::scenario(weights, box, engine).cached_tokens();
}

/// Source: ollama fb307609 server/routes.go: 4096, 32768 from 23 GiB, 262144 from 47 GiB. The model
/// has 131072 positions.
TEST(DefaultContext, OfOllamaGrowsWithTheMemoryOfAllCards) {
  EXPECT_EQ(context_on("ollama", 0, 1), 4096);
  EXPECT_EQ(context_on("ollama", 1, 22), 4096);
  EXPECT_EQ(context_on("ollama", 1, 23), 32768);
  EXPECT_EQ(context_on("ollama", 1, 46), 32768);
  EXPECT_EQ(context_on("ollama", 1, 47), 131072);
  EXPECT_EQ(context_on("ollama", 2, 24), 131072);
  EXPECT_EQ(context_on("llama.cpp", 2, 24), 640);
}

/// Metal lets a process use two thirds of 32 GiB: 21.3 GiB.
TEST(DefaultContext, CountsTheMemoryThatMetalAllows) {
  const test::OnCards small("meta-llama/Llama-3.1-8B", "q4_K_M", "1x m2-max-32gb", "ollama");
  EXPECT_EQ(small.s.cached_tokens(), 4096);
  const test::OnCards large("meta-llama/Llama-3.1-8B", "q4_K_M", "1x m2-max-64gb", "ollama");
  EXPECT_EQ(large.s.cached_tokens(), 131072);
}

/// 32 layers of 2 * 8 * 128 elements in 16 bit: 131072 bytes a token.
TEST(DefaultContext, IsReservedUnlessAnotherIsAskedFor) {
  test::OnCards c("meta-llama/Llama-3.1-8B", "q4_K_M", "1x rtx-3060-12gb", "ollama");
  c.s.kv_precision = &precision("fp16");
  EXPECT_EQ(evaluate(c.s).kv_cache.count(), 4096 * Size{131072});
  c.s.context = 1024;
  EXPECT_EQ(evaluate(c.s).kv_cache.count(), 1024 * Size{131072});
  c.s.context = 0;
  c.s.prompt_tokens = 8192;
  EXPECT_EQ(c.s.cached_tokens(), 8192 + 128);
}

/// Source: lmstudio-js 6ec11db1 schema.ts: useUnifiedKvCache.
TEST(DefaultContext, OfLmStudioIsSharedBySequences) {
  test::OnCards c("meta-llama/Llama-3.1-8B", "q4_K_M", "1x rtx-4090", "lm-studio");
  EXPECT_EQ(c.s.cached_tokens(), 4096);
  c.s.batch = 4;
  EXPECT_EQ(c.s.cached_tokens(), 1024);
  EXPECT_EQ(evaluate(c.s).kv_cache.count(), 4096 * Size{131072});
  c.s.batch = 16;
  EXPECT_EQ(c.s.cached_tokens(), 640);
}

/// They start llama.cpp, so its measurements are theirs.
TEST(DefaultContext, ServersOfLlamaCppHaveItsConstants) {
  const Engine& llama = engine("llama.cpp");
  for (const char* name : {"ollama", "lm-studio"}) {
    const Engine& row = engine(name);
    EXPECT_EQ(row.generation, "llama.cpp");
    EXPECT_GT(row.memory.context_bytes.measurements, 0);
    EXPECT_EQ(row.memory.context_bytes.value, llama.memory.context_bytes.value);
    for (std::size_t cards = 0; cards < card_classes; ++cards)
      for (std::size_t width = 0; width < widths; ++width)
        EXPECT_EQ(row.kernels.efficiency[cards][width].decode_bandwidth.value,
                  llama.kernels.efficiency[cards][width].decode_bandwidth.value);
  }
}

TEST(DefaultContext, RisesInARow) {
  std::vector<Engine> rows(engines().begin(), engines().end());
  const std::string head =
      "[[engine]]\nname = \"mine\"\ninherits = \"ollama\"\nversion = \"1\"\nsource = \"notes\"\n";
  const auto read = [&](const std::string& contexts) {
    read_engines(rows, head + "serving.default_contexts = " + contexts + "\n", "mine.toml");
  };
  EXPECT_NO_THROW(read("[{ tokens = 1 }, { from = \"1 GiB\", tokens = 2 }]"));
  EXPECT_THROW(read("[{ from = \"1 GiB\", tokens = 2 }, { tokens = 1 }]"), std::runtime_error);
  EXPECT_THROW(read("[{ from = \"1 GiG\", tokens = 2 }]"), std::exception);
}

}  // namespace
}  // namespace headroom::model
