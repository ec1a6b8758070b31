// Keys and values of a cache in different formats.
#include <gtest/gtest.h>

#include <algorithm>

#include "hardware/names.hpp"
#include "model/answer/explain.hpp"
#include "model/engine/default_cache.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/attention_rules.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

TEST(SeparateCaches, NamesAreOneFormatOrTwo) {
  EXPECT_EQ(asked_cache("q8_0").name(), "q8_0");
  EXPECT_EQ(asked_cache("q8_0/q4_0").name(), "q8_0/q4_0");
  EXPECT_EQ(asked_cache("f16/q8_0").name(), "fp16/q8_0");
  EXPECT_EQ(asked_cache("q8_0/q8_0"), asked_cache("q8_0"));
  EXPECT_EQ(asked_cache("auto"), CachePrecision());
  EXPECT_EQ(asked_cache("auto/q4_0").keys, nullptr);
  EXPECT_THROW(asked_cache("q8_0/"), UnknownName);
  EXPECT_THROW(asked_cache("q8_0/q4_0/q4_0"), UnknownName);
  const test::OnCards on("Qwen/Qwen3-0.6B", "q4_K_M", "1x rtx-4090", "llama.cpp");
  Scenario s = on.s;
  s.kv_precision = asked_cache("auto/q4_0");
  EXPECT_EQ(cache_precision(s).name(), "fp16/q4_0");
  EXPECT_EQ(cache_format(s), "fp16/q4_0");
}

/// Bytes of all caches of one sequence with `context` tokens, in MiB.
double mib_of(const char* model, const char* engine, const char* cache, Size context) {
  const test::OnCards on(model, "q4_K_M", "1x h200-sxm-141gb", engine);
  Scenario s = on.s;
  s.kv_precision = asked_cache(cache);
  s.context = context;
  return kv_cache(s, reserved_tokens(s), 0, std::ssize(s.weights->layer)).real().value() / MiB;
}

/// "KV self size" or "llama_kv_cache: size" of logs. Phi-4-mini: release notes of MindAnchor 0.31.2
/// (llama.cpp b4792). DeepSeek's draft is of the shape of Qwen2.5-0.5B: an issue of ik_llama.cpp
/// that ends in ggml-cuda/mmvq.cu:604, which gives -ctk alone, so V stays f16.
TEST(SeparateCaches, HaveTheBytesOfLogs) {
  EXPECT_EQ(mib_of("microsoft/Phi-4-mini-instruct", "llama.cpp-b6324", "q8_0/q4_0", 2048), 68 + 36);
  EXPECT_EQ(mib_of("Qwen/Qwen2.5-0.5B", "ik_llama.cpp", "q8_0/auto", 16384), 51 + 96);
  // Qwen3.6-27B: 16 of 64 layers keep K and V, 4352 and 2304 MiB in a script of llama-server for
  // a Radeon AI PRO R9700. The recurrent states do not depend on the formats.
  const auto qwen = [](const char* cache) {
    return mib_of("Qwen/Qwen3.6-27B", "llama.cpp", cache, 262144);
  };
  const double states = qwen("fp16") - 16384;
  EXPECT_GT(states, 0);
  EXPECT_EQ(qwen("q8_0/q4_0") - states, 4352 + 2304);
  EXPECT_EQ(qwen("q4_0/q8_0") - states, 2304 + 4352) << "K and V are equally wide";
}

/// By hand: elements * tokens * layers * bytes of a block / elements of a block.
TEST(SeparateCaches, KeysAndValuesOfOtherWidths) {
  constexpr double tokens = 4096, q8_0 = 34.0 / 32, q4_0 = 18.0 / 32;
  const auto mib = [](double keys, double values, double layers) {
    return tokens * layers * (keys * q8_0 + values * q4_0) / MiB;
  };
  // Latents of 512 and rotated keys of 64, in 27 layers. V is not kept, or is a copy of the latent.
  const char* latent = "deepseek-ai/DeepSeek-V2-Lite";
  EXPECT_EQ(mib_of(latent, "ik_llama.cpp", "q8_0/q4_0", 4096), mib(576, 0, 27));
  EXPECT_EQ(mib_of(latent, "llama.cpp-b9775", "q8_0/q4_0", 4096), mib(576, 0, 27));
  EXPECT_EQ(mib_of(latent, "llama.cpp-b7829", "q8_0/q4_0", 4096), mib(576, 512, 27));
  // Expanded: 40 heads of 96 and of 64, in 62 layers.
  EXPECT_EQ(mib_of("openbmb/MiniCPM3-4B", "llama.cpp", "q8_0/q4_0", 4096),
            mib(40 * 96, 40 * 64, 62));
}

/// MiMo-V2-Flash has heads of 192 for keys and 128 for values.
TEST(SeparateCaches, ValuesAreNarrowerWhereTheModelSaysSo) {
  for (const CacheClass& c : test::catalogue_model("XiaomiMiMo/MiMo-V2-Flash").profile.caches)
    if (c.kind == CacheKind::self_attention) {
      EXPECT_EQ(c.values_before.back() * (192 + 128), c.per_token_before.back() * 128);
    }
}

TEST(SeparateCaches, AStepReadsBothFormats) {
  const test::OnCards on("Qwen/Qwen3-0.6B", "q4_K_M", "1x rtx-4090", "llama.cpp");
  const auto read = [&](const char* cache) {
    Scenario s = on.s;
    s.kv_precision = asked_cache(cache);
    return AttentionRules(s).over({0, 28}).read(s.batch, {.self = 1000}).value();
  };
  // 28 layers, 8 heads of 128.
  EXPECT_DOUBLE_EQ(read("q8_0/q4_0"), 1000.0 * 28 * 1024 * (34 + 18) / 32);
  EXPECT_DOUBLE_EQ(read("q4_0/q8_0"), read("q8_0/q4_0"));
  EXPECT_DOUBLE_EQ(2 * read("q8_0/fp16"), read("q8_0") + read("fp16"));
}

/// Before b6325 llama.cpp has flash attention only where it is asked for, as quantised values need.
TEST(SeparateCaches, QuantisedValuesNeedFlashAttention) {
  const test::OnCards on("Qwen/Qwen3-0.6B", "q4_K_M", "1x rtx-4090", "llama.cpp-b6324");
  const auto scores = [&](const char* cache) {
    Scenario s = on.s;
    s.kv_precision = asked_cache(cache);
    return score_bytes(s);
  };
  EXPECT_EQ(scores("fp16"), 4);
  EXPECT_EQ(scores("q8_0/fp16"), 4);
  EXPECT_EQ(scores("fp16/q8_0"), 0);
  EXPECT_EQ(scores("q4_0"), 0);
}

TEST(SeparateCaches, BelongToEnginesThatHaveThem) {
  const auto reason = [](const char* engine, const char* model, const char* cache) {
    const test::OnCards on(model, "bf16", "1x h200-sxm-141gb", engine);
    Scenario s = on.s;
    s.kv_precision = asked_cache(cache);
    return evaluate(s).reason;
  };
  constexpr const char* small = "Qwen/Qwen3-0.6B";
  constexpr const char* latent = "deepseek-ai/DeepSeek-V2-Lite";
  for (const char* engine : {"llama.cpp", "llama.cpp-b6324", "ik_llama.cpp", "lm-studio"})
    EXPECT_EQ(reason(engine, small, "q8_0/q4_0"), Reason::none) << engine;
  for (const char* engine : {"ollama", "mlx-lm", "transformers"})
    EXPECT_NE(reason(engine, small, "q8_0/q4_0"), Reason::none) << engine;
  EXPECT_EQ(reason("vllm", small, "fp16/fp8"), Reason::cache_unsupported);
  EXPECT_EQ(reason("vllm", small, "fp8/fp8"), Reason::none);
  EXPECT_EQ(reason("exllamav3", small, "q8_0/q4_0"), Reason::none);
  EXPECT_EQ(reason("exllamav3", small, "fp16/q4_0"), Reason::cache_unsupported);
  // llama.cpp pull request 25871 of July 2026.
  EXPECT_EQ(reason("llama.cpp", latent, "q8_0/fp16"), Reason::cache_unsupported);
  EXPECT_EQ(reason("llama.cpp", latent, "q8_0"), Reason::none);
  EXPECT_EQ(reason("llama.cpp-b9775", latent, "q8_0/fp16"), Reason::none);
}

TEST(SeparateCaches, ARefusalNamesWhatWorks) {
  const test::OnCards on("Qwen/Qwen3-0.6B", "bf16", "1x rtx-4090", "ollama");
  Scenario s = on.s;
  s.kv_precision = asked_cache("q8_0/q4_0");
  Explanation explained = explain(s);
  ASSERT_EQ(explained.advice.size(), 1u);
  EXPECT_EQ(explained.advice.front().kind, Advice::Kind::one_cache_format);
  const auto& others = explained.advice.front().others;
  EXPECT_NE(std::ranges::find(others, "llama.cpp"), others.end());
  EXPECT_EQ(std::ranges::find(others, "ollama"), others.end());
  // A format that the engine lacks is named, whichever part it is for.
  s.kv_precision = asked_cache("fp16/nf4");
  explained = explain(s);
  ASSERT_EQ(explained.advice.size(), 1u);
  EXPECT_EQ(explained.advice.front().kind, Advice::Kind::other_cache);
  EXPECT_EQ(explained.advice.front().name, "nf4");
}

}  // namespace
}  // namespace headroom::model
