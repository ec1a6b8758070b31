// The flags of a written script, read back, give the estimated split.
#include <gtest/gtest.h>

#include <sstream>

#include "model/answer/explain.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "sweep/launch/launch.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::sweep {
namespace {

struct SplitSizes {
  Size tensor = 1, pipeline = 1, data = 1, expert = 1;
  bool operator==(const SplitSizes&) const = default;
};

/// The word after `flag`. It is empty if the script does not have the flag.
std::string value_of(const std::string& script, const std::string& flag) {
  std::istringstream words(script);
  for (std::string word; words >> word;)
    if (word == flag) return words >> word ? word : std::string();
  return {};
}
Size size_of(const std::string& script, const std::string& flag) {
  const std::string text = value_of(script, flag);
  return text.empty() ? 1 : std::stoll(text);
}

/// Reads flags as the engines do: vLLM spreads experts over all tensor- and data-parallel cards.
/// SGLang's replicas of the attention divide its tensor-parallel cards.
SplitSizes read_back(const std::string& engine, const std::string& script) {
  if (engine == "sglang") {
    SplitSizes sizes{size_of(script, "--tp-size"), size_of(script, "--pp-size"),
                     size_of(script, "--dp-size"), size_of(script, "--ep-size")};
    if (script.find("--enable-dp-attention") != std::string::npos) sizes.tensor /= sizes.data;
    return sizes;
  }
  SplitSizes sizes{size_of(script, "--tensor-parallel-size"),
                   size_of(script, "--pipeline-parallel-size"),
                   size_of(script, "--data-parallel-size")};
  if (script.find("--enable-expert-parallel") != std::string::npos)
    sizes.expert = sizes.tensor * sizes.data;
  return sizes;
}

std::string script_of(const model::Scenario& s) {
  const model::Explanation explained = model::explain(s);
  return launch_kind(s.runtime->family).write({s, explained, {}});
}

TEST(LaunchSplit, FlagsGiveBackTheSplitThatWasEstimated) {
  int scripts = 0, spread = 0;
  for (const std::string engine : {"vllm", "sglang"})
    for (const char* name : {"meta-llama/Llama-3.1-8B", "Qwen/Qwen3-30B-A3B"}) {
      const test::OnCards on(name, "bf16", "8x h100-sxm-80gb", engine.c_str());
      for (const Size tensor : {0, 1, 2, 4, 8})
        for (const Size pipeline : {0, 1, 2, 4})
          for (const Size data : {0, 1, 2, 4, 8})
            for (const Size expert : {0, 2, 4, 8}) {
              model::Scenario s = on.s;
              s.tensor_parallel = tensor;
              s.pipeline_parallel = pipeline;
              s.data_parallel = data;
              s.expert_parallel = expert;
              const model::Estimate e = evaluate(s);
              if (e.verdict >= model::Verdict::does_not_fit) continue;
              const SplitSizes made = read_back(engine, script_of(s));
              const auto asked = [](Size size) { return std::max<Size>(1, size); };
              if (tensor > 0) {
                EXPECT_EQ(made.tensor, tensor) << engine;
              }
              EXPECT_EQ(made.pipeline, asked(pipeline)) << engine;
              EXPECT_EQ(made.data, asked(data)) << engine;
              EXPECT_EQ(made.expert, asked(expert)) << engine;
              EXPECT_EQ(made.tensor * made.pipeline * made.data, e.gpus_used) << engine;
              ++scripts;
              spread += expert > 0 ? 1 : 0;
            }
    }
  EXPECT_GT(scripts, 100);
  EXPECT_GT(spread, 20);
}

/// SGLang counts requests and tokens of a pass over all replicas of the attention.
TEST(LaunchSplit, ReplicasOfTheAttentionDivideTheEnginesLimits) {
  const test::OnCards on("Qwen/Qwen3-30B-A3B", "bf16", "8x h100-sxm-80gb", "sglang");
  model::Scenario s = on.s;
  s.data_parallel = 4;
  s.expert_parallel = 8;
  s.batch = 16;
  s.chunk_tokens = 2048;
  const std::string script = script_of(s);
  EXPECT_EQ(size_of(script, "--tp-size"), 8);
  EXPECT_EQ(size_of(script, "--dp-size"), 4);
  EXPECT_NE(script.find("--enable-dp-attention"), std::string::npos);
  EXPECT_EQ(size_of(script, "--max-running-requests"), 64);
  EXPECT_EQ(size_of(script, "--chunked-prefill-size"), 8192);
  s.expert_parallel = 2;  // within a replica of two cards
  const std::string copies = script_of(s);
  EXPECT_EQ(copies.find("--enable-dp-attention"), std::string::npos);
  EXPECT_EQ(size_of(copies, "--max-running-requests"), 16);
}

TEST(LaunchSplit, KeysAndValuesHaveTheirOwnFormats) {
  const test::OnCards on("Qwen/Qwen3-0.6B", "bf16", "1x rtx-4090", "llama.cpp");
  model::Scenario s = on.s;
  s.kv_precision = {&precision("q8_0"), &precision("q4_0")};
  std::string script = script_of(s);
  EXPECT_EQ(value_of(script, "--cache-type-k"), "q8_0");
  EXPECT_EQ(value_of(script, "--cache-type-v"), "q4_0");
  EXPECT_EQ(value_of(script, "--flash-attn"), "on");
  EXPECT_NE(script.find("GGML_CUDA_FA_ALL_QUANTS"), std::string::npos);
  // Quantised keys alone need no flash attention (llama-context.cpp).
  s.kv_precision = {&precision("q8_0"), &precision("fp16")};
  script = script_of(s);
  EXPECT_EQ(value_of(script, "--cache-type-k"), "q8_0");
  EXPECT_EQ(value_of(script, "--cache-type-v"), "");
  EXPECT_EQ(value_of(script, "--flash-attn"), "");
}

TEST(LaunchSplit, CachesHaveTheEnginesOwnWords) {
  for (const std::string engine : {"vllm", "sglang", "llama.cpp", "transformers"}) {
    const test::OnCards on("Qwen/Qwen3-0.6B", "bf16", "1x rtx-4090", engine.c_str());
    for (const model::CacheFormat& each : on.s.runtime->cache.formats) {
      model::Scenario s = on.s;
      s.kv_precision = &precision(each.precision);
      const std::string what = engine + " " + std::string(each.precision);
      if (engine == "llama.cpp") {
        const std::string script = script_of(s);
        const bool usual = each.precision == "fp16";
        EXPECT_EQ(value_of(script, "--cache-type-k"), usual ? "" : each.word) << what;
        EXPECT_EQ(value_of(script, "--cache-type-v"), usual ? "" : each.word) << what;
        const bool quantised = each.precision.find('_') != std::string_view::npos;
        EXPECT_EQ(value_of(script, "--flash-attn"), quantised ? "on" : "") << what;
        EXPECT_EQ(script.find("FA_ALL_QUANTS"), std::string::npos) << what;
      } else if (engine == "transformers") {
        const std::string script = script_of(s);
        EXPECT_EQ(script.find("cache_implementation=\"quantized\"") != std::string::npos,
                  each.precision.starts_with("int"))
            << what;
      } else if (each.precision == "fp32") {
        EXPECT_THROW(script_of(s), std::invalid_argument) << what;
      } else {
        const std::string word = each.precision == "fp8"        ? "fp8_e4m3"
                                 : each.precision == "fp8_e5m2" ? "fp8_e5m2"
                                 : each.precision == "nvfp4"    ? "nvfp4"
                                                                : "";
        EXPECT_EQ(value_of(script_of(s), "--kv-cache-dtype"), word) << what;
      }
    }
  }
}

TEST(LaunchSplit, UnsupportedEngineOptionsAreErrors) {
  const test::OnCards on("meta-llama/Llama-3.1-8B", "bf16", "4x h100-sxm-80gb",
                         "deepspeed-inference");
  model::Scenario s = on.s;
  s.tensor_parallel = 2;
  EXPECT_NE(script_of(s).find("\"tp_size\": 2"), std::string::npos);
  s.data_parallel = 2;
  EXPECT_THROW(script_of(s), std::invalid_argument);
}

}  // namespace
}  // namespace headroom::sweep
