// The format of keys and values that an engine takes by itself, and the types of recurrent states.
#include "model/engine/default_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/checkpoint/checkpoint_methods.hpp"
#include "model/infer/memory/attention_rules.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

std::string taken(const char* model, const char* engine) {
  const Model& m = test::catalogue_model(model);
  return std::string(
      default_cache(quantise(m, scheme(m.checkpoint_scheme)), model::engine(engine)).name);
}

struct TakenRow {
  const char *model, *engine, *format;
};

/// Sources: vLLM 0.33 and 0.14 utils/torch_utils.py resolve_kv_cache_dtype_string,
/// layers/attention/ attention.py; SGLang 0.5.2, 0.5.3 model_executor/model_runner.py;
/// TensorRT-LLM 1.0 _torch/model_config.py load_modelopt_quant_config.
TEST(DefaultCache, FollowsTheCheckpointWhereTheEngineDoes) {
  constexpr const char* word = "nvidia/Qwen3-235B-A22B-NVFP4";   // kv_cache_quant_algo
  constexpr const char* type = "nvidia/Kimi-K2.6-NVFP4";         // kv_cache_scheme of ModelOpt
  constexpr const char* groups = "poolside/Laguna-S-2.1-FP8";    // … of compressed-tensors
  constexpr const char* none = "nvidia/DeepSeek-V3-0324-NVFP4";  // null
  constexpr const char* plain = "Qwen/Qwen3-0.6B";
  const TakenRow rows[] = {{word, "vllm", "fp8"},
                           {type, "vllm", "fp8"},
                           {groups, "vllm", "fp8"},
                           {none, "vllm", "fp16"},
                           {plain, "vllm", "fp16"},
                           {word, "vllm@0.14", "fp8"},
                           {word, "vllm@0.13", "fp16"},
                           {word, "sglang", "fp8"},
                           {type, "sglang", "fp8"},
                           {groups, "sglang", "fp16"},
                           {word, "sglang@0.5.2", "fp16"},
                           {word, "tensorrt-llm", "fp8"},
                           {word, "transformers", "fp16"},
                           {type, "llama.cpp", "fp16"},
                           {groups, "exllama", "fp16"},
                           {"deepseek-ai/DeepSeek-V4-Flash", "vllm", "fp8"},
                           {"deepseek-ai/DeepSeek-V4-Flash", "transformers", "fp16"}};
  for (const TakenRow& row : rows)
    EXPECT_EQ(taken(row.model, row.engine), row.format) << row.model << ' ' << row.engine;
}

TEST(DefaultCache, EveryFollowedMethodIsOneOfCheckpoints) {
  for (const Engine& each : engines())
    for (const std::string_view method : each.cache.follows_checkpoint)
      EXPECT_NE(std::ranges::find(checkpoint_methods(), method, &CheckpointMethod::name),
                checkpoint_methods().end())
          << each.name << ' ' << method;
}

TEST(DefaultCache, AnotherSchemeThanTheCheckpointsStatesNothing) {
  const Model& m = test::catalogue_model("nvidia/Qwen3-32B-NVFP4");
  EXPECT_EQ(default_cache(quantise(m, scheme("bf16")), engine("vllm")).name, "fp16");
}

TEST(DefaultCache, AnExplicitFormatCountsAndTheReasonIsSaid) {
  test::OnCards on("nvidia/Qwen3-32B-NVFP4", "nvfp4", "1x b200-sxm-180gb", "vllm");
  const auto bytes = [&](const char* format) {
    on.s.kv_precision = format == nullptr ? nullptr : &precision(format);
    return CacheBytes(on.s, reserved_tokens(on.s))(0, 64).count();
  };
  EXPECT_EQ(bytes(nullptr), bytes("fp8"));
  EXPECT_EQ(bytes("fp16"), 2 * bytes(nullptr));
  on.s.kv_precision = nullptr;
  EXPECT_EQ(cache_format(on.s), "fp8, as the checkpoint states");
  on.s.kv_precision = &precision("bf16");
  EXPECT_EQ(cache_format(on.s), "bf16, the checkpoint states fp8");
  on.s.kv_precision = nullptr;
  on.s.runtime = &engine("transformers");
  EXPECT_EQ(cache_format(on.s),
            "fp16, the checkpoint states fp8, which transformers does not follow");
}

std::string cache_complaint(std::string_view section) {
  const std::string json = R"({"quantization_config":)" + std::string(section) + "}";
  try {
    (void)checkpoint_details(parse_config(json, "config.json"));
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "none";
}

TEST(StatedCache, UnknownFormatsAreErrorsThatNameTheKeyAndWhatExists) {
  const auto expect = [](std::string_view section, std::initializer_list<std::string_view> words) {
    const std::string said = cache_complaint(section);
    for (const std::string_view word : words)
      EXPECT_NE(said.find(word), std::string::npos) << section << ": " << said;
  };
  expect(R"({"quant_method":"modelopt","quant_algo":"FP8","kv_cache_quant_algo":"INT8"})",
         {"config.json", "kv_cache_quant_algo", "INT8", "FP8 or NVFP4"});
  expect(R"({"quant_method":"modelopt","quant_algo":"FP8",
             "kv_cache_scheme":{"num_bits":8,"type":"int"}})",
         {"config.json", "num_bits", "'int'", "8 or 4 of float"});
  expect(R"({"quant_method":"modelopt","quant_algo":"FP8",
             "kv_cache_scheme":{"num_bits":8,"type":"float","dynamic":true}})",
         {"dynamic", "not described"});
  EXPECT_EQ(cache_complaint(R"({"quant_method":"modelopt","quant_algo":"FP8",
                          "kv_cache_quant_algo":null})"),
            "none");
}

TEST(StatedCache, Nvfp4IsTakenByEnginesThatHaveIt) {
  const auto m = make_model("tiny",
                            parse_config(R"({"architectures":["LlamaForCausalLM"],
      "model_type":"llama","vocab_size":32000,"hidden_size":256,"intermediate_size":512,
      "num_hidden_layers":2,"num_attention_heads":4,"torch_dtype":"bfloat16",
      "quantization_config":{"quant_method":"modelopt","quant_algo":"FP8",
      "kv_cache_quant_algo":"NVFP4"}})",
                                         "config.json"),
                            "test");
  const QuantisedModel weights = quantise(m, scheme(m.checkpoint_scheme));
  EXPECT_EQ(default_cache(weights, engine("vllm")).name, "nvfp4");
  EXPECT_EQ(default_cache(weights, engine("vllm@0.19")).name, "fp16") << "it has no such format";
}

struct StateRow {
  const char *model, *engine;
  Size bytes;  ///< all states of one sequence
};

/// Bytes by hand: a gated delta rule keeps heads x key x value, and four inputs of its convolution,
/// of which SGLang and llama.cpp omit the newest. Sources: transformers 5.24 models/qwen3_next,
/// kimi_linear, mamba2; SGLang 0.5.23 configs/mamba_utils.py: conv_kernel - 1; llama.cpp
/// src/llama-hparams.cpp n_embd_r: ssm_d_conv - 1, src/llama-model.cpp: GGML_TYPE_F32 of both.
TEST(RecurrentStates, ScansAndConvolutionsHaveTypesOfTheirOwn) {
  constexpr Size next_scan = Size{36} * 32 * 128 * 128, next_conv = Size{36} * 8192 * 4;
  constexpr Size mamba_scan = Size{24} * 1536 * 16, mamba_conv = Size{24} * 1536 * 4;
  constexpr const char *next = "Qwen/Qwen3-Next-80B-A3B-Instruct",
                       *mamba = "state-spaces/mamba-130m-hf";
  const StateRow rows[] = {
      {next, "transformers", 4 * next_scan + 2 * next_conv},
      {next, "sglang", 4 * next_scan + 2 * next_conv / 4 * 3},
      {next, "llama.cpp", 4 * (next_scan + next_conv / 4 * 3)},
      {mamba, "transformers", 4 * mamba_scan + 2 * mamba_conv},
      {mamba, "transformers-4.57", 2 * (mamba_scan + mamba_conv)},
  };
  for (const StateRow& row : rows) {
    const Machine box = test::machine(1, 200, 500);
    const QuantisedModel weights = quantise(test::catalogue_model(row.model), scheme("bf16"));
    Scenario s = test::scenario(weights, box, row.engine);
    const Size layers = std::ssize(weights.layer);
    const auto with = [&](Size sequences) {
      s.batch = sequences;
      return CacheBytes(s, {.self = 0, .source = 0})(0, layers).count();
    };
    EXPECT_EQ(with(1), row.bytes) << row.model << ' ' << row.engine;
    EXPECT_EQ(with(3), 3 * row.bytes);
    s.batch = 1;
    const double read =
        AttentionRules(s).over({0, layers}).read(1, {.self = 0, .source = 0}).value();
    EXPECT_DOUBLE_EQ(read, 2.0 * static_cast<double>(row.bytes))
        << "read and written at each token";
  }
}

}  // namespace
}  // namespace headroom::model
