// Effects of a quantization_config. The bytes of a small Llama follow by hand from the layouts that
// model/checkpoint/quantisation/layout.hpp cites. Keys without a description are refused by name.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "model/checkpoint/quantisation/checkpoint_bytes.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/checkpoint/quantisation/undescribed.hpp"
#include "tests/model/checkpoint/small_llama.hpp"

namespace headroom::model {
namespace {

constexpr std::int64_t hidden = SmallLlama::hidden, inner = SmallLlama::inner,
                       vocabulary = SmallLlama::vocabulary;

std::int64_t bytes_of(const std::string& json) {
  return checkpoint_bytes(small_model(json)).count();
}

/// The embedding, the norms and the head.
constexpr std::int64_t outside_layers(std::int64_t layers) {
  return 2 * (vocabulary * hidden + (2 * layers + 1) * hidden);
}
constexpr std::int64_t head = 2 * vocabulary * hidden;

/// AutoGPTQ: qweight, qzeros, scales, g_idx and the zero bias.
constexpr std::int64_t gptq(std::int64_t out, std::int64_t in, std::int64_t bits, std::int64_t g) {
  return out * in * bits / 8 + in / g * out * bits / 8 + 2 * (in / g) * out + 4 * in + 2 * out;
}
std::int64_t gptq4(std::int64_t out, std::int64_t in) { return gptq(out, in, 4, 128); }

TEST(CheckpointBytes, OfGptqRulesForSingleModules) {
  const auto with = [](std::string_view more) {
    return bytes_of(llama_config(
        2, fmt::format(R"({{"quant_method":"gptq","bits":4,"group_size":128{}}})", more)));
  };
  const std::int64_t plain = outside_layers(2) + head + 2 * small_layer(gptq4);
  EXPECT_EQ(with(""), plain);
  EXPECT_EQ(with(R"(,"dynamic":{"-:.*down_proj":{}})"),
            plain + 2 * (2 * hidden * inner - gptq4(hidden, inner)));
  EXPECT_EQ(with(R"(,"dynamic":{"+:.*\\.q_proj":{"bits":8,"group_size":32}})"),
            plain + 2 * (gptq(hidden, hidden, 8, 32) - gptq4(hidden, hidden)));
  EXPECT_EQ(with(R"(,"dynamic":{"-:.*layers\\.0\\.":{},".*":{"bits":8}})"),
            outside_layers(2) + head + small_layer([](auto o, auto i) { return 2 * o * i; }) +
                small_layer([](auto o, auto i) { return gptq(o, i, 8, 128); }))
      << "the first rule that matches decides";
  EXPECT_EQ(with(R"(,"lm_head":true)"), plain - head + gptq4(vocabulary, hidden));
  EXPECT_EQ(with(R"(,"modules_in_block_to_quantize":[["self_attn.q_proj"],["mlp.down_proj"]])"),
            plain + 2 * (small_layer([](auto o, auto i) { return 2 * o * i - gptq4(o, i); }) -
                         (2 * hidden * hidden - gptq4(hidden, hidden)) -
                         (2 * hidden * inner - gptq4(hidden, inner))));
  EXPECT_EQ(with(R"(,"modules_to_not_convert":["self_attn.q"])"),
            plain + 2 * (2 * hidden * hidden - gptq4(hidden, hidden)));
  EXPECT_EQ(with(R"(,"meta":{"quantizer":["gptqmodel:1.4.2"]})"),
            plain - 2 * small_layer([](auto o, auto) { return 2 * o; }))
      << "GPTQModel stores no bias that the layer lacks";
}

TEST(CheckpointBytes, OfAutoRoundArePackedLikeGptqOrAwq) {
  const auto with = [](std::string_view more) {
    return bytes_of(llama_config(
        1, fmt::format(R"({{"quant_method":"auto-round","bits":4,"group_size":128{}}})", more)));
  };
  const auto packed = [](auto o, auto i) { return gptq4(o, i) - 4 * i - 2 * o; };
  EXPECT_EQ(with(""), outside_layers(1) + head + small_layer(packed));
  EXPECT_EQ(with(R"(,"packing_format":"auto_round:auto_awq")"),
            outside_layers(1) + head + small_layer(packed));
  EXPECT_EQ(with(R"(,"extra_config":{"model.layers.0.self_attn.q_proj":{"bits":16}})"),
            outside_layers(1) + head + small_layer(packed) + 2 * hidden * hidden -
                packed(hidden, hidden));
  for (const char* expression : {".*q_proj", ".*self_attn\\\\.q.*", "model.layers.[0-9].*q_proj"})
    EXPECT_EQ(with(fmt::format(R"(,"extra_config":{{"{}":{{"bits":16}}}})", expression)),
              outside_layers(1) + head + small_layer(packed) + 2 * hidden * hidden -
                  packed(hidden, hidden))
        << expression;
  EXPECT_EQ(with(R"(,"extra_config":{".*q_proj":{"bits":16},
                     "model.layers.0.self_attn.q_proj":{"bits":4}})"),
            outside_layers(1) + head + small_layer(packed))
      << "a name comes before expressions";
}

TEST(CheckpointBytes, OfFp8LeaveIgnoredLayers) {
  const auto fp8 = [](auto o, auto i) { return o * i + 4; };
  for (const char* key : {"ignored_layers", "modules_to_not_convert"})
    EXPECT_EQ(bytes_of(llama_config(2, fmt::format(R"({{"quant_method":"fp8","{}":["lm_head",
                                "model.layers.1.self_attn.q_proj"]}})",
                                                   key))),
              outside_layers(2) + head + 2 * small_layer(fp8) + hidden * hidden - 4)
        << key;
}

TEST(CheckpointBytes, OfCompressedTensorsCountZeroPointsAndOrder) {
  const auto with = [](std::string_view weights, std::string_view ignore = R"(["lm_head"])") {
    return bytes_of(llama_config(1, fmt::format(R"({{"quant_method":"compressed-tensors",
        "version":"0.10.2","format":"pack-quantized","ignore":{},"config_groups":{{"group_0":{{"targets":["Linear"],
        "weights":{{"num_bits":4,"type":"int","strategy":"group","group_size":128{}}}}}}}}})",
                                                ignore, weights)));
  };
  const auto symmetric = [](auto o, auto i) { return o * i / 2 + 2 * o * (i / 128) + 16; };
  const auto zero = [&](auto o, auto i) { return symmetric(o, i) + o / 8 * 4 * (i / 128); };
  EXPECT_EQ(with(""), outside_layers(1) + head + small_layer(symmetric));
  EXPECT_EQ(with(R"(,"symmetric":false)"), outside_layers(1) + head + small_layer(zero));
  EXPECT_EQ(with(R"(,"actorder":"weight")"), outside_layers(1) + head + small_layer(symmetric));
  EXPECT_EQ(with(R"(,"actorder":"group")"),
            outside_layers(1) + head +
                small_layer([&](auto o, auto i) { return symmetric(o, i) + 4 * i; }));
  EXPECT_EQ(
      with(R"(,"symmetric":false,"actorder":"group")"),
      outside_layers(1) + head + small_layer([&](auto o, auto i) { return zero(o, i) + 4 * i; }));
  EXPECT_EQ(with("", "[]"),
            outside_layers(1) + small_layer(symmetric) + symmetric(vocabulary, hidden))
      << "the head is a Linear too";
  EXPECT_EQ(with("", R"(["re:lm","re:.*self_attn.q"])"),
            outside_layers(1) + head + small_layer(symmetric) + 2 * hidden * hidden -
                symmetric(hidden, hidden))
      << "expressions match a name's beginning";
}

TEST(CheckpointBytes, OfOtherWritersOfCompressedTensorsHaveShorterShapes) {
  const auto with = [](std::string_view more) {
    return bytes_of(llama_config(1, fmt::format(R"({{"quant_method":"compressed-tensors",{}
        "format":"pack-quantized","ignore":["lm_head"],"config_groups":{{"group_0":{{
        "targets":["Linear"],"weights":{{"num_bits":4,"strategy":"group","group_size":128}}}}}}}})",
                                                more)));
  };
  EXPECT_EQ(with(R"("version":"0.12.2",)") - with(""), 7 * 8) << "two int64, two int32";
  EXPECT_EQ(with(R"("global_compression_ratio":1.2,)"), with(R"("version":"0.12.2",)"));
}

TEST(CheckpointBytes, OfExpertsPackGateAndUpApart) {
  const auto with = [](std::string_view quantisation) {
    return bytes_of(fmt::format(R"({{"architectures":["Qwen3MoeForCausalLM"],
      "model_type":"qwen3_moe","hidden_size":256,"moe_intermediate_size":128,"num_experts":8,
      "num_experts_per_tok":2,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":64,
      "vocab_size":1000,"num_hidden_layers":3,"tie_word_embeddings":false,
      "torch_dtype":"bfloat16"{}}})",
                                quantisation));
  };
  const std::string only =
      R"(,"quantization_config":{"quant_method":"modelopt","quant_algo":"NVFP4",
      "exclude_modules":["lm_head","*self_attn*"]})";
  // Three matrices an expert: 9 bytes for 16 elements, and two fp32 scales each.
  const std::int64_t experts = 3 * 8 * 3, elements = 128 * 256;
  EXPECT_EQ(with("") - with(only), experts * (2 * elements - elements / 16 * 9 - 8));
}

TEST(CheckpointErrors, OfTargetsThatMatchNothing) {
  const auto with = [](std::string_view targets) {
    return llama_config(1, fmt::format(R"({{"quant_method":"compressed-tensors","version":"1",
        "format":"float-quantized","ignore":[],"config_groups":{{"group_0":{{"targets":[{}],
        "weights":{{"num_bits":8,"type":"float","strategy":"channel"}}}}}}}})",
                                       targets));
  };
  for (const char* good : {R"("Linear")", R"("re:.*q_proj")", R"("model.layers.0.mlp.up_proj")"})
    EXPECT_NO_THROW(small_model(with(good))) << good;
  try {
    small_model(with(R"("re:.*experts.*","w1")"));
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    for (const char* part : {"config.json", "config_groups.group_0.targets", "re:.*experts.*, w1",
                             "'model.layers.0.self_attn.q_proj'"})
      EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  }
}

TEST(CheckpointErrors, OfQuantisedLayersThatTheModelLacks) {
  const auto with = [](std::string_view layer) {
    return llama_config(1, fmt::format(R"({{"quant_method":"modelopt",
        "quant_algo":"MIXED_PRECISION","quantized_layers":{{
        "model.layers.0.mlp.up_proj":{{"quant_algo":"FP8"}},"{}":{{"quant_algo":"NVFP4"}}}}}})",
                                       layer));
  };
  EXPECT_NO_THROW(small_model(with("model.layers.0.mlp.down_proj")));
  EXPECT_THROW(small_model(with("model.layers.0.block_sparse_moe.experts.0.w1")), ConfigError);
}

/// int8 of bitsandbytes. `kept` of 12 layers stay in 16 bit.
std::int64_t int8_of(std::int64_t kept) {
  const auto int8 = [](auto o, auto i) { return o * i + 4 * o + 1; };
  return outside_layers(12) + (12 - kept) * small_layer(int8) +
         kept * small_layer([](auto o, auto i) { return 2 * o * i; });
}

TEST(CheckpointBytes, OfBitsandbytesSkipAsTheVersionThatWroteThemMatches) {
  const auto with = [](std::string_view list, std::string_view version) {
    return bytes_of(llama_config(12,
                                 fmt::format(R"({{"quant_method":"bitsandbytes","load_in_8bit":true,
                                          "llm_int8_skip_modules":{}}})",
                                             list),
                                 fmt::format(R"(,"transformers_version":"{}")", version)));
  };
  constexpr std::string_view one = R"(["lm_head","model.layers.1"])";
  EXPECT_EQ(with(one, "4.57.1"), int8_of(1) + head);
  EXPECT_EQ(with(one, "5.0.0"), int8_of(3) + head) << "layers 1, 10 and 11";
  EXPECT_EQ(with(one, "5.23.0"), int8_of(1) + head);
  constexpr std::string_view inside = R"(["lm_head","layers.1"])";
  EXPECT_EQ(with(inside, "4.57.1"), int8_of(1) + head) << "anywhere in the path";
  EXPECT_EQ(with(inside, "5.0.0"), int8_of(0) + head) << "only at its beginning or end";
  EXPECT_EQ(with("[]", "4.57.1"), int8_of(0) + vocabulary * hidden + 4 * vocabulary + 1)
      << "a list takes the place of the usual head";
  EXPECT_EQ(with("null", "4.57.1"), int8_of(0) + head);
}

TEST(CheckpointBytes, OfModeloptByAlgorithmAndLayer) {
  const auto nvfp4 = [](auto o, auto i) { return o * i / 16 * 9 + 8; };
  EXPECT_EQ(
      bytes_of(llama_config(1, R"({"quant_method":"modelopt","quant_algo":"NVFP4","group_size":16,
                                 "kv_cache_quant_algo":"FP8","exclude_modules":["lm_head"]})")),
      outside_layers(1) + head + small_layer(nvfp4));
  EXPECT_EQ(bytes_of(llama_config(1, R"({"quant_algo":"MIXED_PRECISION","quantized_layers":{
              "backbone.layers.0.self_attn.q_proj":{"quant_algo":"FP8"},
              "lm_head":{"quant_algo":"W4A16_NVFP4","group_size":16}}})")),
            outside_layers(1) + vocabulary * hidden / 16 * 9 + 4 + hidden * hidden + 8 -
                2 * hidden * hidden + small_layer([](auto o, auto i) { return 2 * o * i; }));
}

TEST(Checkpoint, KeysThatChangeBytesAndAreNotDescribedAreNamed) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"quant_method":"gptq","bits":5})", "bits"},
      {R"({"quant_method":"gptq","bits":4,"group_size":48})", "group_size"},
      {R"({"quant_method":"gptq","bits":4,"checkpoint_format":"marlin"})", "checkpoint_format"},
      {R"({"quant_method":"gptq","bits":4,"dynamic":{"+:.*":{"bits":7}}})", "bits"},
      {R"({"quant_method":"gptq","bits":4,"modules_in_block_to_quantize":[[3]]})",
       "modules_in_block_to_quantize"},
      {R"({"quant_method":"awq","version":"gemv"})", "version"},
      {R"({"quant_method":"auto-round","bits":4,"data_type":"mx_fp"})", "data_type"},
      {R"({"quant_method":"bitsandbytes","load_in_8bit":true,"llm_int8_has_fp16_weight":true})",
       "llm_int8_has_fp16_weight"},
      {R"({"quant_method":"compressed-tensors","format":"marlin-24"})", "marlin-24"},
      {R"({"quant_method":"compressed-tensors","format":"dense"})", "dense"},
      {R"({"quant_method":"compressed-tensors","format":"float-quantized",
           "sparsity_config":{"format":"sparse-24-bitmask"}})",
       "sparse-24-bitmask"},
      {R"({"quant_method":"compressed-tensors","config_groups":{"g":{"targets":["Linear"],
           "weights":{"num_bits":4,"type":"int","group_size":128,"strategy":"group",
           "actorder":"rows"}}}})",
       "actorder"},
      {R"({"quant_method":"modelopt","quant_algo":"NVFP4_AWQ"})", "quant_algo"},
      {R"({"quant_method":"modelopt","quant_algo":"NVFP4","group_size":32})", "group_size"},
      {R"({"quant_method":"modelopt","quant_algo":"MIXED_PRECISION","config_groups":{"g":{
           "targets":["lm_head"],"weights":{"num_bits":4,"type":"float","group_size":16}}},
           "quantized_layers":{"lm_head":{"quant_algo":"FP8"}}})",
       "found fp8 for 'lm_head', which is nvfp4 in config_groups"},
      {R"({"quant_method":"modelopt","quant_algo":"MIXED_PRECISION","config_groups":{"g":{
           "targets":["lm_head"],"weights":{"num_bits":4,"type":"float","group_size":16}}},
           "quantized_layers":{"lm_head":{"quant_algo":"abc"}}})",
       "found 'abc'"},
      {R"({})", "quant_method"},
  };
  for (const auto& [quantisation, key] : cases) try {
      small_model(llama_config(1, quantisation));
      ADD_FAILURE() << quantisation;
    } catch (const NotDescribed& error) {
      ADD_FAILURE() << "would be counted without it: " << error.what();
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(key), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("quantization_config"), std::string::npos)
          << error.what();
    }
}

TEST(Checkpoint, OfAMethodThatIsNotDescribedHasParametersAndNoBytes) {
  const Size plain = small_model(llama_config(1, "null")).profile.parameters;
  for (const char* method :
       {"hqq", "aqlm", "vptq", "spqr", "higgs", "eetq", "bitnet", "something-new"}) {
    const Model model =
        small_model(llama_config(1, fmt::format(R"({{"quant_method":"{}"}})", method)));
    EXPECT_EQ(model.profile.parameters, plain);
    EXPECT_TRUE(is_undescribed(model.checkpoint_scheme)) << model.checkpoint_scheme;
    try {
      checkpoint_bytes(model);
      ADD_FAILURE() << method;
    } catch (const NotDescribed& error) {
      EXPECT_NE(std::string(error.what()).find(method), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("gptq"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace headroom::model
