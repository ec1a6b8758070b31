// The scheme in which an engine holds weights, by the checkpoint's method and the cards.
#include "model/engine/loaded_scheme.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "model/checkpoint/checkpoint_methods.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

Machine machine_of(std::string_view text) {
  if (text == "cpu") {
    Machine machine = test::machine(1, 24, 64);
    machine.devices.clear();
    return machine;
  }
  return parse_machine(std::string(text), shipped_catalogue());
}

struct LoadedRow {
  const char *model, *asked, *engine, *machine, *scheme;
};

constexpr const char* auto_scheme = "auto";
constexpr const char* refused = "refused";

std::string loaded(const LoadedRow& row) {
  const Model& m = test::catalogue_model(row.model);
  const Machine machine = machine_of(row.machine);
  const Engine& by = engine(row.engine);
  const Scheme* asked = row.asked == std::string_view(auto_scheme) ? nullptr : &scheme(row.asked);
  const Scheme& held = loaded_scheme(m, asked, by, machine);
  if (loading_of(m, held, by, machine) == Loading::refused) return refused;
  return std::string(held.name);
}

/// Sources: transformers 5.24, 4.57 and 4.46 quantizers/; compressed-tensors 0.20
/// model_compressor.py; vLLM 0.33 and 0.19 platforms/ and get_min_capability; SGLang 0.5.23
/// configs/model_config.py; tpu-inference 0.32 tpu_platform.py; mlx-lm 0.32.2 utils.py load_model.
TEST(LoadedScheme, UnpacksOrRefusesWhatCardsCannotRun) {
  constexpr const char* fp8 = "Qwen/Qwen3-8B-FP8";
  constexpr const char* fp4 = "openai/gpt-oss-20b";
  constexpr const char* groups = "RedHatAI/Llama-4-Scout-17B-16E-Instruct-FP8-dynamic";
  constexpr const char* nvfp4 = "nvidia/Qwen3-32B-NVFP4";
  constexpr const char* fbgemm = "meta-llama/Llama-3.1-405B-Instruct-FP8";
  constexpr const char* plain = "Qwen/Qwen3-8B";
  const LoadedRow rows[] = {
      {fp8, auto_scheme, "transformers", "rtx-4090", "fp8-block"},
      {fp8, auto_scheme, "transformers", "rtx-3090", "bf16"},
      {fp8, auto_scheme, "transformers", "m3-max-48gb", "bf16"},
      {fp8, auto_scheme, "transformers", "cpu", "bf16"},
      {fp8, auto_scheme, "transformers", "mi300x", "fp8-block"},
      {fp8, auto_scheme, "transformers@4.57", "rtx-3090", refused},
      {fp8, auto_scheme, "vllm", "rtx-3090", "fp8-block"},
      {fp8, auto_scheme, "vllm@0.13", "rtx-2080-ti", refused},
      {fp8, auto_scheme, "vllm", "rtx-2080-ti", "fp8-block"},
      {fp8, "fp8", "transformers", "a100-sxm-80gb", "bf16"},
      {fp8, "fp8", "vllm", "h100-sxm-80gb", "fp8-block"},
      {groups, "fp8", "vllm", "h100-sxm-80gb", "fp8-channel"},
      {groups, "fp8-block", "vllm", "h100-sxm-80gb", "fp8-channel"},
      {groups, "fp8-static", "vllm", "h100-sxm-80gb", "fp8-static"},
      {plain, "fp8", "vllm", "h100-sxm-80gb", "fp8"},
      {plain, "fp8-block", "vllm", "h100-sxm-80gb", "fp8-block"},
      {plain, "fp8", "transformers", "m3-max-48gb", "bf16"},
      {plain, "nf4", "transformers", "m3-max-48gb", "nf4"},
      {plain, "nf4", "vllm", "rtx-4090", refused},
      {plain, "nf4", "vllm@0.19", "rtx-4090", "nf4"},
      {plain, "gptq-int4", "sglang", "mi300x", refused},
      {plain, "gptq-int4", "sglang", "rtx-4090", "gptq-int4"},
      {plain, "int4", "transformers", "rtx-4090", "bf16"},
      {plain, "int4", "transformers@4.57", "rtx-4090", "int4"},
      {plain, "q4_K_M", "llama.cpp", "m3-max-48gb", "q4_K_M"},
      {fp4, auto_scheme, "transformers", "rtx-3090", "mxfp4"},
      {fp4, auto_scheme, "transformers", "m3-max-48gb", "bf16"},
      {fp4, auto_scheme, "transformers", "v100-sxm-16gb", "bf16"},
      {fp4, auto_scheme, "llama.cpp", "rtx-3090", "mxfp4-moe"},
      {fp4, auto_scheme, "mlx-lm", "m3-max-48gb", "mxfp4"},
      {fp8, auto_scheme, "mlx-lm", "m3-max-48gb", refused},
      {fp8, "mlx-8bit", "mlx-lm", "m3-max-48gb", "mlx-8bit"},
      {nvfp4, auto_scheme, "mlx-lm", "m3-max-48gb", refused},
      {"Qwen/Qwen2.5-72B-Instruct-AWQ", auto_scheme, "mlx-lm", "m4-max-128gb", "awq-int4"},
      {"Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4", auto_scheme, "mlx-lm", "m4-max-128gb", refused},
      {groups, auto_scheme, "transformers", "h100-sxm-80gb", "bf16"},
      {groups, auto_scheme, "vllm", "h100-sxm-80gb", "fp8-channel"},
      {nvfp4, auto_scheme, "transformers", "b200-sxm-180gb", refused},
      {nvfp4, auto_scheme, "vllm", "rtx-3090", "nvfp4"},
      {fbgemm, auto_scheme, "transformers", "a100-sxm-80gb", refused},
      {fbgemm, auto_scheme, "transformers", "h100-sxm-80gb", "fp8-channel-fp32"},
      {fbgemm, auto_scheme, "sglang", "h100-sxm-80gb", refused}};
  for (const LoadedRow& row : rows)
    EXPECT_EQ(loaded(row), row.scheme)
        << row.model << ' ' << row.asked << ' ' << row.engine << ' ' << row.machine;
}

TEST(LoadedScheme, SaysWhatItChangesAndWhyItRefuses) {
  const Model& m = test::catalogue_model("Qwen/Qwen3-8B-FP8");
  const Machine old = machine_of("rtx-3090"), today = machine_of("rtx-4090");
  EXPECT_EQ(loading_note(m, nullptr, engine("transformers"), old),
            "transformers unpacks weights in fp8-block to 16 bit on rtx-3090");
  EXPECT_EQ(loading_note(m, nullptr, engine("transformers"), today), "");
  EXPECT_EQ(loading_refusal(m, scheme("fp8-block"), engine("transformers@4.57"), old),
            "it has no kernels for fp8 checkpoints on rtx-3090, only on nvidia 8.9, amd, intel");
  EXPECT_EQ(loading_refusal(m, scheme("nvfp4"), engine("transformers"), today),
            "it loads no checkpoints of modelopt_fp4");
  const QuantisedModel packed = quantise(m, scheme("nvfp4"));
  EXPECT_EQ(evaluate(test::scenario(packed, today, "transformers")).reason,
            Reason::precision_unsupported);
}

/// Sources: vLLM 0.33 platforms/cuda.py supported_dtypes, check_if_supports_dtype, config/model.py
/// _resolve_auto_dtype; SGLang 0.5 model_runner.py: "Use float16 due to lack of bfloat16 support".
TEST(LoadedScheme, TakesAnotherTypeWhereCardsLackBf16) {
  constexpr const char* plain = "Qwen/Qwen3-8B";
  const LoadedRow rows[] = {{plain, auto_scheme, "vllm", "t4", "fp16"},
                            {plain, "bf16", "vllm", "t4", refused},
                            {plain, "fp16", "vllm", "t4", "fp16"},
                            {plain, auto_scheme, "vllm", "rtx-3090", "bf16"},
                            {plain, "bf16", "vllm", "rtx-3090", "bf16"},
                            {plain, auto_scheme, "vllm", "mi300x", "bf16"},
                            {plain, "bf16", "vllm@0.19", "v100-sxm-32gb", refused},
                            {"google/gemma-2-27b", auto_scheme, "vllm", "t4", "fp32"},
                            {plain, auto_scheme, "sglang", "t4", "fp16"},
                            {plain, "bf16", "sglang", "t4", "fp16"},
                            {plain, "bf16", "sglang", "rtx-3090", "bf16"},
                            {plain, "bf16", "transformers", "t4", "bf16"},
                            {plain, auto_scheme, "llama.cpp", "t4", "bf16"}};
  for (const LoadedRow& row : rows)
    EXPECT_EQ(loaded(row), row.scheme) << row.asked << ' ' << row.engine << ' ' << row.machine;
  const Model& m = test::catalogue_model(plain);
  const Machine old = machine_of("t4");
  EXPECT_EQ(loading_refusal(m, scheme("bf16"), engine("vllm"), old),
            "bf16 needs compute capability 8.0; it takes fp16 on t4");
  EXPECT_EQ(loading_note(m, nullptr, engine("vllm"), old),
            "vllm loads a checkpoint in bf16 in fp16");
}

/// Source: the files of unsloth/gpt-oss-20b-GGUF, whose F16 has 13.8 GB.
TEST(LoadedScheme, KeepsExpertsOfMxfp4InGgufFiles) {
  constexpr const char* packed = "openai/gpt-oss-20b";
  const LoadedRow rows[] = {{packed, "bf16", "llama.cpp", "rtx-4090", "gguf-bf16"},
                            {packed, "fp16", "llama.cpp", "rtx-4090", "gguf-f16"},
                            {packed, "q4_K_M", "llama.cpp", "rtx-4090", "q4_K_M"},
                            {packed, "bf16", "vllm", "rtx-4090", "bf16"},
                            {"Qwen/Qwen3-8B", "bf16", "llama.cpp", "rtx-4090", "bf16"}};
  for (const LoadedRow& row : rows) EXPECT_EQ(loaded(row), row.scheme) << row.engine << row.asked;
  EXPECT_EQ(loading_note(test::catalogue_model(packed), &scheme("fp16"), engine("llama.cpp"),
                         machine_of("rtx-4090")),
            "GGUF files keep experts in MXFP4, so fp16 means gguf-f16");
}

/// Sources: vLLM 0.33 config/model.py _resolve_auto_dtype; SGLang 0.5.23 configs/model_config.py
/// _get_and_verify_dtype.
TEST(LoadedScheme, CastsFp32AsTheEngineDoes) {
  const Model wide = make_model("wide",
                                parse_config(R"({"architectures": ["Gemma2ForCausalLM"],
      "model_type": "gemma2", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
      "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 1000,
      "torch_dtype": "float32"})",
                                             "wide.json"),
                                "test");
  const Model& gpt = test::catalogue_model("openai-community/gpt2");
  ASSERT_EQ(gpt.checkpoint_scheme, "fp32");
  const auto scheme_of = [](const Model& m, const char* engine, const char* machine) {
    return std::string(
        loaded_scheme(m, nullptr, headroom::model::engine(engine), machine_of(machine)).name);
  };
  EXPECT_EQ(scheme_of(gpt, "vllm", "rtx-4090"), "bf16");
  EXPECT_EQ(scheme_of(gpt, "vllm", "v100-sxm-16gb"), "fp16");
  EXPECT_EQ(scheme_of(gpt, "sglang", "rtx-4090"), "fp16");
  EXPECT_EQ(scheme_of(gpt, "llama.cpp", "rtx-4090"), "fp16");
  EXPECT_EQ(scheme_of(gpt, "transformers", "rtx-4090"), "fp32");
  EXPECT_EQ(scheme_of(wide, "vllm", "rtx-4090"), "bf16");
  EXPECT_EQ(scheme_of(wide, "vllm", "v100-sxm-16gb"), "fp32");
}

TEST(CheckpointSupport, ReadsWhatItWritesAndNamesWhatItDoesNot) {
  for (const char* text : {"awq gptq", "fp8 mxfp8: nvidia 8.9, amd; else 16 bit",
                           "compressed-tensors: none; else 16 bit", "fbgemm_fp8: nvidia 9.0"})
    EXPECT_EQ(text_of(parse_checkpoint_support(text)), text);
  for (const char* text : {"", "fp8: nvidia 8", "fp8: amd; else 8 bit"})
    EXPECT_THROW(parse_checkpoint_support(text), std::invalid_argument) << text;
}

TEST(CheckpointSupport, EveryMethodIsOneOfCheckpoints) {
  for (const Engine& each : engines())
    for (const CheckpointSupport& row : each.weights.checkpoints)
      for (const std::string_view method : row.methods)
        EXPECT_NE(std::ranges::find(checkpoint_methods(), method, &CheckpointMethod::name),
                  checkpoint_methods().end())
            << each.name << ' ' << method;
  for (const Scheme& scheme : schemes()) {
    if (scheme.method.empty()) continue;
    EXPECT_NE(std::ranges::find(checkpoint_methods(), scheme.method, &CheckpointMethod::name),
              checkpoint_methods().end())
        << scheme.name;
  }
}

}  // namespace
}  // namespace headroom::model
