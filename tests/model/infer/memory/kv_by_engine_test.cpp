// KV cache bytes by engine, for models that other estimators got wrong. They have windows that an
// engine may ignore, latents, hybrid layers or quantised caches. The values are calculated by hand.
// Published figures are named where they exist.
#include <gtest/gtest.h>

#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

struct Row {
  const char *model, *engine, *precision;
  Size context;
  Size bytes;  ///< bytes of one sequence
};

constexpr Size K = 1024;

const Row rows[] = {
    // 27 layers. A latent has 512 + 64 elements. Before 0.7.1 vLLM keeps K and V of 16 heads in 256
    // elements each: models/deepseek_v2.py pads 192 and 128.
    {"deepseek-ai/DeepSeek-V2-Lite", "vllm", "bf16", 16 * K, 16 * K * 27 * 2 * 576},
    {"deepseek-ai/DeepSeek-V2-Lite", "vllm-0.6", "bf16", 16 * K, 16 * K * 27 * 2 * 2 * 16 * 256},
    // 24 layers of 2 * 8 * 64 elements, every other one with a window of 128. vLLM before its
    // hybrid allocator gives all layers whole pages: 49,152 bytes per token. With it, the window
    // holds 127 tokens, a pass of 8192 and a block. SlidingWindowSpec.max_memory_usage_bytes has
    // 521 blocks.
    {"openai/gpt-oss-20b", "vllm-0.9", "bf16", 128 * K, 128 * K * 49152},
    {"openai/gpt-oss-20b", "vllm-0.25", "bf16", 128 * K, 12 * 2048 * (128 * K + 521 * 16)},
    {"openai/gpt-oss-20b", "vllm", "bf16", 128 * K, 12 * 2048 * (128 * K + 1033 * 16)},
    {"openai/gpt-oss-20b", "transformers", "bf16", 128 * K, 12 * 2048 * (128 * K + 128)},
    // Windows hold 0.8 of the tokens, 104,858 in blocks of 16; before 0.5.5 all of them.
    {"openai/gpt-oss-20b", "sglang", "bf16", 128 * K, 12 * 2048 * (128 * K + 104864)},
    {"openai/gpt-oss-20b", "sglang-0.5.4", "bf16", 128 * K, 128 * K * 49152},
    // The window and a chunk of 512 tokens, rounded up to cells of 256.
    {"openai/gpt-oss-20b", "llama.cpp", "fp16", 128 * K, 12 * 2048 * (128 * K + 768)},
    // 62 layers of 2 * 16 * 128. Every sixth layer has no window, the others a window of 1024. vLLM
    // uses groups of 10. It pads the 52 others to 60, with 577 blocks each.
    {"google/gemma-3-27b-it", "vllm-0.9", "bf16", 128 * K, 128 * K * 62 * 8192},
    {"google/gemma-3-27b-it", "vllm-0.25", "bf16", 128 * K, 8192 * (10 * 128 * K + 60 * 577 * 16)},
    {"google/gemma-3-27b-it", "vllm", "bf16", 128 * K, 8192 * (10 * 128 * K + 60 * 1089 * 16)},
    {"google/gemma-3-27b-it", "sglang", "bf16", 128 * K, 128 * K * 62 * 8192},  // is not listed
    {"google/gemma-3-27b-it", "llama.cpp", "fp16", 128 * K,
     8192 * (10 * 128 * K + 52 * (1024 + 512))},
    {"google/gemma-3-27b-it", "transformers", "bf16", 128 * K, 8192 * (10 * 128 * K + 52 * 1024)},
    // 42 layers of 2 * 8 * 256, every other one with a window of 4096.
    {"google/gemma-2-9b", "transformers", "bf16", 8 * K, 21 * 8192 * (8 * K + 4 * K)},
    {"google/gemma-2-9b", "vllm-0.9", "bf16", 8 * K, 42 * 8192 * 8 * K},
    {"google/gemma-2-9b", "vllm", "bf16", 8 * K, 21 * 8192 * (8 * K + 8 * K + 16)},
    {"google/gemma-2-9b", "llama.cpp", "fp16", 8 * K, 21 * 8192 * (8 * K + 4 * K + 512)},
    // A latent of 512 and 64 rotated dimensions in each of 61 layers: 70,272 bytes per token (512 +
    // 64, gpustack/gguf-parser-go issue 8). llama.cpp before its pull request 19067 keeps the 512
    // twice. Code of 2024 for transformers keeps 128 heads of 192 + 128.
    {"deepseek-ai/DeepSeek-V3", "vllm", "bf16", 64 * K, 64 * K * 70272},
    {"deepseek-ai/DeepSeek-V3", "transformers", "bf16", 64 * K, 64 * K * 70272},
    {"deepseek-ai/DeepSeek-V3", "llama.cpp-b7829", "fp16", 64 * K, 64 * K * 61 * (576 + 512) * 2},
    {"deepseek-ai/DeepSeek-V3", "llama.cpp", "fp16", 64 * K, 64 * K * 61 * 576 * 2},
    {"deepseek-ai/DeepSeek-V3", "transformers-4.44", "bf16", 64 * K,
     64 * K * 61 * 128 * (192 + 128) * 2},
    // 32 and 80 layers of 2 * 8 * 128.
    {"meta-llama/Llama-3.1-8B", "transformers", "bf16", 8 * K, 8 * K * 131072},
    {"meta-llama/Llama-3.1-8B", "vllm", "bf16", 8 * K, 8 * K * 131072},
    {"meta-llama/Llama-3.1-8B", "llama.cpp", "fp16", 8 * K, 8 * K * 131072},
    {"Qwen/Qwen2.5-72B", "vllm", "bf16", 8 * K, 8 * K * 327680},
    {"Qwen/Qwen2.5-72B", "vllm", "fp8", 8 * K, 8 * K * 163840},
    // 34 and 18 bytes for 32 elements (ollama issue 10128, node-llama-cpp pull request 608).
    {"Qwen/Qwen2.5-72B", "llama.cpp", "q8_0", 8 * K, 8 * K * 163840 / 32 * 34},
    {"Qwen/Qwen2.5-72B", "llama.cpp", "q4_0", 8 * K, 8 * K * 163840 / 32 * 18},
    // Every fourth layer attends, the others keep a state of 32 * 128 * 128 elements in fp32 and 3
    // inputs of 8192 channels: 528 tokens of 4096 bytes hold one. A published log of vLLM 0.20
    // without prefix caching has 36.91 sequences in 6.56 GiB: 8 + 3 blocks of 8 pages. With prefix
    // caching a sequence has two states.
    {"Qwen/Qwen3.5-9B", "vllm-0.15", "bf16", 4 * K, (8 + 3) * 8 * 528 * 4096},
    {"Qwen/Qwen3.5-9B", "vllm", "bf16", 4 * K, (8 + 3 * 2) * 8 * 528 * 4096},
    // Published logs: blocks of 1568 tokens, 208 of them on each of two cards hold 2.31 times 128K;
    // blocks of 2096 tokens, 304 hold 8.00 times 64K.
    {"Qwen/Qwen3.5-27B", "vllm", "fp8", 128 * K, Size{84 + 3 * 2} * 16 * 1568 * 2048},
    {"Qwen/Qwen3.5-35B-A3B", "vllm", "fp8", 64 * K, (32 + 3 * 2) * 10 * 2096 * 1024},
    // Kimi delta attention has 96 heads of 128 * 128 in fp32 and 3 inputs of 36,864 channels. 69
    // such layers are three groups beside the 24 that attend: one latent of 576.
    {"moonshotai/Kimi-K3", "vllm", "bf16", 64 * K, Size{12 + 3 * 2} * 24 * 5760 * 1152},
    // A config without a type of the state: 16 bit, as vLLM computes. 12 layers of 48 attend.
    {"Qwen/Qwen3-Next-80B-A3B-Instruct", "vllm-0.15", "bf16", 64 * K, (121 + 3) * 12 * 544 * 2048},
};

TEST(KvByEngine, IsWhatEachEngineReserves) {
  const Machine machine = test::machine(1, 80, 256);
  for (const Row& row : rows) {
    const QuantisedModel weights = quantise(test::catalogue_model(row.model), scheme("bf16"));
    Scenario s = test::scenario(weights, machine, row.engine);
    s.kv_precision = &precision(row.precision);
    s.context = row.context;
    const Bytes found = kv_cache(s, reserved_tokens(s), 0, std::ssize(weights.layer));
    EXPECT_EQ(found, Bytes(row.bytes)) << row.model << ' ' << row.engine << ' ' << row.precision;
  }
}

// A further sequence needs its window and a block, not another pass.
TEST(KvByEngine, SequencesShareTheTokensOfAPass) {
  const QuantisedModel weights =
      quantise(test::catalogue_model("openai/gpt-oss-20b"), scheme("bf16"));
  const Machine machine = test::machine(1, 80, 256);
  Scenario s = test::scenario(weights, machine, "vllm");
  s.context = 64 * K;
  const auto at = [&](Size batch) {
    s.batch = batch;
    return kv_cache(s, reserved_tokens(s), 0, std::ssize(weights.layer));
  };
  EXPECT_EQ(at(5) - at(4), Bytes(12 * 2048 * (64 * K + 128 + 16)));
}

// transformers cuts windows off as slices, so the whole prompt stays until the next token. Seen in
// tests/accuracy/measured: 32.19 GB of gemma-3-12b-it at 8 x 2048 tokens, 2.7 GB more than windows.
TEST(KvByEngine, WindowsOfTransformersHoldThePromptUntilTheNextToken) {
  const QuantisedModel weights =
      quantise(test::catalogue_model("google/gemma-3-27b-it"), scheme("bf16"));
  const Machine machine = test::machine(1, 80, 256);
  Engine sliced = engine("transformers");
  const auto after_prompt = [&](bool views) {
    sliced.cache.window_views = views;
    Scenario s = test::scenario(weights, machine, "transformers");
    s.runtime = &sliced;
    s.prompt_tokens = 8 * K;
    s.output_tokens = 1;
    s.context = 8 * K + 1;
    return kv_cache(s, prompt_tokens(s), 0, std::ssize(weights.layer));
  };
  EXPECT_EQ(after_prompt(true), Bytes(62 * 8192 * 8 * K));
  EXPECT_EQ(after_prompt(false), Bytes(8192 * (10 * 8 * K + 52 * 1024)));
}

// Only one layer in four of a hybrid caches keys and values. The others keep a state of fixed size.
TEST(KvByEngine, HybridsGrowOnlyWithTheirFullLayers) {
  const QuantisedModel weights =
      quantise(test::catalogue_model("Qwen/Qwen3-Next-80B-A3B-Thinking"), scheme("bf16"));
  const Machine machine = test::machine(1, 80, 256);
  Scenario s = test::scenario(weights, machine, "vllm");
  const auto at = [&](Size context) {
    s.context = context;
    return kv_cache(s, reserved_tokens(s), 0, std::ssize(weights.layer));
  };
  // 12 of 48 layers have 2 heads of 256, with keys and values, in blocks that hold a state.
  constexpr Size block = 544;
  EXPECT_EQ(at(120 * block) - at(60 * block), Bytes(60 * block * 12 * 2 * 2 * 256 * 2));
  EXPECT_EQ(at(120 * block), at(119 * block + 1));
}

}  // namespace
}  // namespace headroom::model
