// KV cache formats by engine. No other format is accepted.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/answer/explain.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

TEST(CacheFormats, EveryRowNamesFormatsThatExistWithTheirSource) {
  for (const Engine& runtime : engines()) {
    EXPECT_FALSE(runtime.cache.formats.empty()) << runtime.name;
    EXPECT_FALSE(runtime.cache.formats_source.empty()) << runtime.name;
    EXPECT_NE(runtime.cache.format(precision("fp16")), nullptr) << runtime.name;
    for (const CacheFormat& each : runtime.cache.formats)
      EXPECT_EQ(precision(each.precision).name, each.precision) << runtime.name;
  }
}

/// Sources: llama.cpp common/arg.cpp kv_cache_types, vLLM config/cache.py CacheDType, SGLang
/// server_args.py, TensorRT-LLM llm_args.py, transformers cache_utils.py.
struct FormatRow {
  const char* engine;
  std::vector<const char*> has, lacks;
};

TEST(CacheFormats, AreThoseOfTheEngine) {
  const FormatRow rows[] = {
      {"vllm", {"fp16", "bf16", "fp8", "fp8_e5m2"}, {"q4_0", "q8_0", "nf4", "mxfp4", "int4"}},
      {"sglang", {"fp16", "bf16", "fp8", "fp8_e5m2"}, {"q4_0", "int8", "int4"}},
      {"tensorrt-llm", {"fp16", "fp8"}, {"fp8_e5m2", "q8_0", "int4"}},
      {"llama.cpp",
       {"fp32", "fp16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1"},
       {"fp8", "int8", "nf4", "nvfp4", "q4_K", "iq4_xs"}},
      {"transformers",
       {"fp32", "fp16", "bf16", "int2_g64", "int4_g64", "int8_g64"},
       {"fp8", "q8_0", "int4"}},
      {"exllama", {"fp16", "fp8", "q8_0", "q4_0"}, {"fp8_e5m2", "int4"}},
      {"exllamav3", {"fp16", "q8_0", "q5_0", "q4_0"}, {"fp8", "int4"}}};
  for (const FormatRow& row : rows) {
    const test::OnCards on("Qwen/Qwen3-0.6B", "bf16", "1x rtx-4090", row.engine);
    Scenario s = on.s;
    for (const char* name : row.has) {
      s.kv_precision = &precision(name);
      EXPECT_LT(evaluate(s).verdict, Verdict::does_not_fit) << row.engine << ' ' << name;
    }
    for (const char* name : row.lacks) {
      s.kv_precision = &precision(name);
      const Explanation explained = explain(s);
      EXPECT_EQ(explained.estimate.verdict, Verdict::refused) << row.engine << ' ' << name;
      EXPECT_EQ(explained.estimate.reason, Reason::cache_unsupported);
      ASSERT_EQ(explained.advice.size(), 1u) << row.engine;
      EXPECT_EQ(explained.advice.front().kind, Advice::Kind::other_cache);
      EXPECT_NE(std::ranges::find(explained.advice.front().names, row.has.front()),
                explained.advice.front().names.end())
          << row.engine;
    }
  }
}

/// Sources: vLLM issues 49011 and 47790, pull request 46963; TensorRT-LLM issue 10241 and its
/// support matrix.
TEST(CacheFormats, NeedCardsWithKernelsForThem) {
  const auto found = [](const char* engine, const char* card, const char* format) {
    const test::OnCards on("Qwen/Qwen3-0.6B", "fp16", card, engine);
    Scenario s = on.s;
    s.kv_precision = &precision(format);
    return evaluate(s).reason;
  };
  for (const char* engine : {"vllm", "tensorrt-llm"}) {
    EXPECT_EQ(found(engine, "1x b200-sxm-180gb", "nvfp4"), Reason::none) << engine;
    for (const char* card : {"1x rtx-3090", "1x rtx-4090", "1x rtx-5090", "1x h100-sxm-80gb"})
      EXPECT_EQ(found(engine, card, "nvfp4"), Reason::cache_unsupported) << engine << ' ' << card;
  }
  for (const char* card : {"1x mi300x", "1x t4", "1x arc-b580"})
    EXPECT_EQ(found("vllm", card, "nvfp4"), Reason::cache_unsupported) << card;
  EXPECT_EQ(found("vllm", "1x rtx-3090", "fp8"), Reason::none);
  EXPECT_EQ(found("tensorrt-llm", "1x rtx-3090", "fp8"), Reason::cache_unsupported);
  EXPECT_EQ(found("tensorrt-llm", "1x rtx-4090", "fp8"), Reason::none);

  const test::OnCards on("Qwen/Qwen3-0.6B", "bf16", "1x rtx-4090", "vllm");
  Scenario s = on.s;
  s.kv_precision = &precision("nvfp4");
  const Advice advice = explain(s).advice.front();
  EXPECT_EQ(advice.amount, 1) << "it has the format on other cards";
  EXPECT_EQ(std::ranges::find(advice.names, "nvfp4"), advice.names.end());
}

TEST(CacheFormats, NoneIsNeededWithoutACache) {
  const test::OnCards on("Qwen/Qwen3-0.6B", "bf16", "1x rtx-4090", "transformers");
  Scenario s = on.s;
  s.kv_precision = &precision("fp8");
  s.kv_cache = false;
  EXPECT_EQ(evaluate(s).verdict, Verdict::fits_one_gpu);
}

}  // namespace
}  // namespace headroom::model
