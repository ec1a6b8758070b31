// Bytes of small models in every family of schemes, calculated by hand from the formats' layouts.
#include "model/checkpoint/quantisation/quantisation.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "hardware/names.hpp"
#include "model/checkpoint/quantisation/tensor_index.hpp"

namespace headroom::model {
namespace {

/// One decoding layer, with q_proj 256 x 128 without bias, experts 4 x [64, 128] and a norm. The
/// head is tied.
Model block_model() {
  Model model;
  model.checkpoint_scheme = "bf16";
  model.shape.hidden_size = 128;
  Part block =
      linear("q_proj", 128, 256) +
      in("router", "TopKRouter", tensor("weight", {4, 128}, Role::matmul)) +
      in("experts", "Experts", routed(tensor("up_proj", {4, 64, 128}, Role::matmul), {4, 2})) +
      rms_norm("norm", "RMSNorm", 128);
  block.caches = {kv_cache({2, 1, 64})};
  model.part = embedding("embed", 1000, 128) +
               stack("layers", "Block", 1, [&](Size) { return block; }) +
               rms_norm("norm", "RMSNorm", 128) + lm_head("embed.weight", 1000, 128, true) +
               rotary("Rotary", 64);
  model.profile = profile_of(model.part, 128);
  return model;
}

constexpr std::int64_t q = 256 * 128, experts = 4 * 64 * 128, rest = 2 * (4 * 128 + 128);
constexpr std::int64_t outside = 2 * (1000 * 128 + 128) + 4 * 2 * 32;

std::int64_t block_bytes(std::string_view name) {
  const Model model = block_model();
  const QuantisedModel weights = quantise(model, scheme(name));
  EXPECT_EQ(weights.total.count() - weights.layer.at(0).count(), outside) << name;
  return weights.layer.at(0).count() - rest;
}

TEST(Quantisation, PlainFormatsCoverEveryTensor) {
  const Model model = block_model();
  const std::int64_t parameters = q + experts + 4 * 128 + 128 + 1000 * 128 + 128, buffers = 256;
  EXPECT_EQ(quantise(model, scheme("bf16")).total.count(), 2 * parameters + buffers);
  EXPECT_EQ(quantise(model, scheme("float32")).total.count(), 4 * parameters + buffers);
}

TEST(Quantisation, ScalesAndMapsAreCounted) {
  EXPECT_EQ(block_bytes("fp8"), q + 4 + experts + 4 * 4);
  EXPECT_EQ(block_bytes("fp8-block"), q + 4 * 2 + experts + 4 * 4);
  EXPECT_EQ(block_bytes("int8"), q + 4 * 256 + experts + 4 * 4 * 64 + 5);
  EXPECT_EQ(block_bytes("nf4"), (q + experts) / 2 + 4 * (q + experts) / 64 + 5 * 64);
  // One byte per block, and one or two fp32 values for every 256 blocks. q_proj has 512 blocks, the
  // experts have 4 x 128.
  EXPECT_EQ(block_bytes("nf4-double"),
            (q + experts) / 2 + 512 + 4 * 2 + 4 * (128 + 4) + 5 * (1024 + 4 + 64));
  EXPECT_EQ(block_bytes("nvfp4"), (q + experts) / 16 * 9 + 5 * 8);
  EXPECT_EQ(block_bytes("awq"), (q + experts) / 2 + (256 + 256) / 2 + 2 * (256 + 256));
  EXPECT_EQ(block_bytes("gptq-int4"),
            (q + experts) / 2 + 512 / 2 + 2 * 512 + 5 * 4 * 128 + 2 * 512);
}

/// Sides are padded to 128. A tied head is a copy in 6 bits, or in those that h states.
TEST(Quantisation, ExlHasBitsOnAverageAndAHeadOfItsOwn) {
  const Model model = block_model();
  const auto exl3 = [](std::int64_t out, std::int64_t in, double bits) {
    return static_cast<std::int64_t>(static_cast<double>(out * in) * bits / 8) + 2 * (out + in) + 4;
  };
  const auto layer = [&](const char* name) {
    return quantise(model, scheme(name)).layer.at(0).count() - rest;
  };
  const auto others = [&](const char* name) {
    const QuantisedModel weights = quantise(model, scheme(name));
    return weights.total.count() - weights.layer.at(0).count() - outside;
  };
  EXPECT_EQ(layer("exl3-4bpw"), exl3(256, 128, 4) + 4 * exl3(128, 128, 4));
  EXPECT_EQ(layer("EXL3 4.25bpw"), exl3(256, 128, 4.25) + 4 * exl3(128, 128, 4.25));
  EXPECT_EQ(others("exl3-4bpw"), exl3(1024, 128, 6));
  EXPECT_EQ(others("exl3-4bpw-h8"), exl3(1024, 128, 8));
  EXPECT_EQ(others("exl3-4bpw-h2.5"), exl3(1024, 128, 2.5));
  EXPECT_EQ(&scheme("exl3 4.0b"), &scheme("exl3-4bpw"));
  EXPECT_EQ(&scheme("exl3 4.25b"), &scheme("exl3-4.25bpw"));
  EXPECT_EQ(quantise(model, scheme("exl3-4bpw")).head_read, exl3(1024, 128, 6));
  EXPECT_EQ(layer("exl2-4.125b"), (q + experts) / 8 * 33 / 8);
  EXPECT_EQ(others("exl2-4bpw"), 1000 * 128 * 6 / 8);
  for (const char* name : {"exl3", "exl3-0.5bpw", "exl3-9bpw", "exl4-4bpw", "exl3-4bpw-h9"})
    EXPECT_THROW(scheme(name), UnknownName) << name;
}

TEST(Quantisation, MxfpTakesExpertsAlone) {
  EXPECT_EQ(block_bytes("mxfp4"), 2 * q + experts / 32 * 17);
  EXPECT_EQ(block_bytes("mxfp4-linear"), (q + experts) / 32 * 17);
}

TEST(Quantisation, PlacesAddUpAndExpertsAreSeparate) {
  const Model model = block_model();
  const QuantisedModel weights = quantise(model, scheme("bf16"));
  EXPECT_EQ(weights.total, weights.embedding + weights.layers_before.at(1) + weights.head);
  EXPECT_EQ(weights.embedding.count(), 2 * 1000 * 128);
  EXPECT_DOUBLE_EQ(weights.head_read, 2 * 1000 * 128) << "a tied head is read, though not held";
  EXPECT_DOUBLE_EQ(weights.read_routed.at(1), 2 * experts);
  EXPECT_DOUBLE_EQ(weights.read_dense.at(1), 2 * q + rest);
}

// A token reads a few rows of a table, so a pass does not read the table.
TEST(Quantisation, HoldsTablesOfLayersAndDoesNotReadThem) {
  Model model = block_model();
  const double before = quantise(model, scheme("bf16")).read_dense.at(1);
  model.part = std::move(model.part) + at("layers.0", embedding("table", 5000, 128));
  model.profile = profile_of(model.part, 128);
  const QuantisedModel weights = quantise(model, scheme("bf16"));
  EXPECT_EQ(weights.layer.at(0).count(), 2 * (q + experts) + rest + 2 * 5000 * 128);
  EXPECT_DOUBLE_EQ(weights.read_dense.at(1), before);
}

TEST(Quantisation, ChecksExceptionsOnlyOfTheCheckpointsOwnScheme) {
  Model model = block_model();
  model.checkpoint.ignored = {"layers.*.q_proj"};
  EXPECT_EQ(quantise(model, scheme("fp8")).layer.at(0).count() - rest, q + 4 + experts + 16);
  model.checkpoint_scheme = "fp8";
  EXPECT_EQ(quantise(model, scheme("fp8")).layer.at(0).count() - rest, 2 * q + experts + 16);
  model.checkpoint.groups = {{"nvfp4", {"layers.0.experts.3.up_proj"}}};
  EXPECT_EQ(quantise(model, scheme("fp8")).layer.at(0).count() - rest,
            2 * q + experts / 16 * 9 + 32);
}

// The lists are looked up once a tensor, whichever scheme asks first.
TEST(Quantisation, SchemesOfOneIndexAreThoseOfEachAlone) {
  Model model = block_model();
  model.checkpoint_scheme = "mxfp4";
  model.checkpoint.ignored = {"layers.*.q_proj"};
  for (const bool by_group : {false, true}) {
    if (by_group) model.checkpoint.groups = {{"fp8", {"layers.0.experts.3.up_proj"}}};
    const TensorIndex index(model);
    EXPECT_FALSE(index.exceptions.empty());
    for (const auto* name : {"q4_K_M", "mxfp4", "bf16", "q8_0", "mxfp4", "q4_K_M"}) {
      const QuantisedModel together = quantise(index, scheme(name));
      const QuantisedModel alone = quantise(model, scheme(name));
      EXPECT_EQ(together.layer.at(0), alone.layer.at(0)) << name;
      EXPECT_EQ(together.total, alone.total) << name;
      EXPECT_DOUBLE_EQ(together.of_files, alone.of_files) << name;
    }
  }
}

TEST(Quantisation, NamesAreUniqueAndUnknownOnesAreRefused) {
  std::set<std::string> seen;
  for (const Scheme& row : schemes()) {
    EXPECT_TRUE(seen.insert(lower(row.name)).second) << row.name;
    for (const auto alias : row.aliases) EXPECT_TRUE(seen.insert(lower(alias)).second) << alias;
    EXPECT_NO_THROW(precision(row.format)) << row.name;
    EXPECT_FALSE(row.source.empty()) << row.name;
  }
  EXPECT_THROW(scheme("bf61"), UnknownName);
}

Config config_of(std::string_view json) { return parse_config(json, "config.json"); }

TEST(Checkpoint, SchemeOfEveryMethod) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"torch_dtype":"bfloat16"})", "bf16"},
      {R"({"dtype":"float16"})", "fp16"},
      {R"({"quantization_config":{"quant_method":"exl3","bits":4.25,"head_bits":6}})",
       "exl3-4.25bpw"},
      {R"({"quantization_config":{"quant_method":"exl3","bits":3,"head_bits":8}})", "exl3-3bpw-h8"},
      {R"({"quantization_config":{"quant_method":"exl3","bits":3,"head_bits":2.5}})",
       "exl3-3bpw-h2.5"},
      {R"({"quantization_config":{"quant_method":"exl2","bits":4.0}})", "exl2-4bpw"},
      {R"({})", "fp32"},
      {R"({"text_config":{"dtype":"bfloat16"}})", "bf16"},
      {R"({"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}})",
       "fp8-block"},
      {R"({"quantization_config":{"quant_method":"mxfp4"}})", "mxfp4"},
      {R"({"quantization_config":{"quant_method":"awq","bits":4,"group_size":128}})", "awq-int4"},
      {R"({"quantization_config":{"quant_method":"gptq","bits":3,"group_size":-1}})",
       "gptq-int3-nogroup"},
      {R"({"quantization_config":{"quant_method":"bitsandbytes","load_in_8bit":true}})", "int8"},
      {R"({"quantization_config":{"load_in_4bit":true,"bnb_4bit_quant_type":"nf4",
           "bnb_4bit_use_double_quant":true}})",
       "nf4-double"},
      {R"({"quantization_config":{"quant_method":"modelopt","quant_algo":"NVFP4"}})", "nvfp4"},
      {R"({"quantization_config":{"quant_method":"compressed-tensors","config_groups":{"group_0":
           {"targets":["Linear"],"weights":{"num_bits":8,"type":"float","strategy":"channel"}}}}})",
       "fp8-channel"},
  };
  for (const auto& [json, name] : cases) {
    EXPECT_EQ(checkpoint_scheme(config_of(json)), name) << json;
    EXPECT_NO_THROW(scheme(name)) << name;
  }
}

TEST(Checkpoint, UnknownTypesAndBrokenPatternsAreErrors) {
  EXPECT_THROW(checkpoint_scheme(config_of(R"({"torch_dtype":"float7"})")), ConfigError);
  EXPECT_THROW(checkpoint_details(config_of(
                   R"({"quantization_config":{"quant_method":"fp8","ignore":["re:(("]}})")),
               ConfigError);
}

TEST(Checkpoint, PatternsNameModules) {
  auto names = [](std::string pattern, std::string_view path) {
    return ModuleNames({std::move(pattern)}).contain(path);
  };
  EXPECT_TRUE(names("lm_head", "lm_head"));
  EXPECT_TRUE(names("gate", "model.layers.3.mlp.gate"));
  EXPECT_TRUE(names("model.layers.*.self_attn", "model.layers.11.self_attn.q_proj"));
  EXPECT_FALSE(names("layers.1", "model.layers.11"));
  EXPECT_TRUE(names("re:.*layers\\.(1|2)\\..*", "model.layers.2.mlp"));
  EXPECT_FALSE(names("mlp.gate", "model.mlp.gate_proj"));
  EXPECT_TRUE(names("model.layers.3.self_attn*", "model.language_model.layers.3.self_attn.q_proj"));
  EXPECT_FALSE(names("model.layers.3.self_attn*", "model.layers.33.self_attn.q_proj"));
  EXPECT_TRUE(names("model*", "model.layers.3.mlp"));
  EXPECT_TRUE(names("*lm_head", "lm_head"));
  EXPECT_TRUE(names("*.attn.*", "layers.3.attn.q"));
  EXPECT_FALSE(names("*.attn.*", "layers.3.attn"));
  EXPECT_TRUE(names("a*b*b", "axbxb"));
  EXPECT_FALSE(names("a*b*b", "axb"));
  EXPECT_TRUE(names("is:lm_head", "lm_head"));
  EXPECT_FALSE(names("is:lm_head", "model.lm_head"));
  EXPECT_TRUE(names("end:.gate", "model.layers.3.mlp.gate"));
  EXPECT_FALSE(names("end:.gate", "gate.weight"));
  EXPECT_TRUE(names("part:layers.1", "model.layers.11.mlp"));
  EXPECT_FALSE(names("part:layers.1.", "model.layers.11.mlp"));
  EXPECT_TRUE(names("part:a", "xax"));
  EXPECT_FALSE(names("part:abc", "xab"));
  // No name begins with a dot: an expression, as should_convert_module of transformers reads it.
  EXPECT_TRUE(names(".*layers.1.self_attn.*", "model.layers.1.self_attn.q_proj"));
  EXPECT_TRUE(names(".*gate", "model.layers.3.mlp.gate"));
  EXPECT_FALSE(names(".*gate", "model.layers.3.mlp.gate_proj"));
}

/// A checkpoint of experts one by one names tens of thousands of modules.
TEST(Checkpoint, LongListsOfModules) {
  std::vector<std::string> list, parts;
  for (int layer = 0; layer < 60; ++layer)
    for (int expert = 0; expert < 300; ++expert) {
      const std::string name =
          "language_model.layers." + std::to_string(layer) + ".experts." + std::to_string(expert);
      for (const char* leaf : {".w1", ".w2", ".w3"}) list.push_back(name + leaf);
      parts.push_back("part:layers." + std::to_string(layer) + ".experts." +
                      std::to_string(expert) + ".w2");
    }
  const ModuleNames names(list), some(parts);
  EXPECT_TRUE(names.contain("model.layers.59.experts.299.w3"));
  EXPECT_TRUE(names.contain("model.layers.59.experts.299.w3.lora"));
  EXPECT_TRUE(names.contain("vision.language_model.layers.7.experts.12.w1"));
  EXPECT_FALSE(names.contain("model.layers.60.experts.0.w1"));
  EXPECT_FALSE(names.contain("model.layers.7.experts.12.w4"));
  EXPECT_FALSE(names.contain("model.layers.7.experts"));
  EXPECT_TRUE(names.contain_expert_of("model.layers.7.experts"));
  EXPECT_TRUE(names.contain_expert_of("layers.7"));
  EXPECT_FALSE(names.contain_expert_of("layers.60"));
  EXPECT_FALSE(names.contain_expert_of("layers.7.experts.12.w1"));
  EXPECT_TRUE(some.contain("model.layers.7.experts.12.w2.weight"));
  EXPECT_FALSE(some.contain("model.layers.7.experts.12.w1"));
}

}  // namespace
}  // namespace headroom::model
