// From a config to its description: the selected row, and refusals.
#include "model/describe/architecture.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model {
namespace {

/// A small Llama whose `extra` keys come first, so that they win.
std::string small_llama(std::string_view extra) {
  return fmt::format(
      R"({{{} "model_type": "llama", "vocab_size": 100, "hidden_size": 64, "intermediate_size": 128,
          "num_attention_heads": 4}})",
      extra);
}
Part part_of(const std::string& json) { return describe(parse_config(json, "config.json")); }
std::string refusal(const std::string& json) {
  try {
    part_of(json);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "nothing thrown";
}

TEST(Architecture, FindsTheClassOrElseTheModelType) {
  EXPECT_EQ(
      part_of(small_llama(R"("architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2,)"))
          .modules[0]
          .class_name,
      "LlamaForCausalLM");
  EXPECT_EQ(part_of(small_llama(R"("num_hidden_layers": 2,)")).modules[0].class_name,
            "LlamaForCausalLM");
}

TEST(Architecture, DescribesTheBaseModelWithoutItsHead) {
  const Part base =
      part_of(small_llama(R"("architectures": ["LlamaModel"], "num_hidden_layers": 2,)"));
  EXPECT_EQ(base.modules[0].class_name, "LlamaModel");
  EXPECT_EQ(base.tensors[0].name, "embed_tokens.weight");
  for (const auto& t : base.tensors) EXPECT_NE(t.role, Role::head) << t.name;
}

TEST(Architecture, RefusesUndescribedClassesAndNamesTheNearest) {
  const std::string text = refusal(R"({"architectures": ["LlamaForCausalML"]})");
  EXPECT_NE(text.find("'LlamaForCausalML' is not described; nearest: LlamaForCausalLM"),
            std::string::npos)
      << text;
  EXPECT_NE(refusal(R"({"model_type": "lama"})").find("nearest: llama"), std::string::npos);
  EXPECT_NE(refusal("{}").find("'architectures': is missing"), std::string::npos);
  // An unknown class is refused, even if another class of that model_type is described.
  EXPECT_NE(refusal(small_llama(R"("architectures": ["LlamaForMultipleChoice"],)"))
                .find("is not described"),
            std::string::npos);
}

/// Names from tests/oracle/data/registries.csv.
TEST(Architecture, SaysWhichEnginesRunAnUndescribedClass) {
  const std::string text = refusal(R"({"architectures": ["FunASRForConditionalGeneration"]})");
  EXPECT_NE(text.find("is not described; it runs in vLLM; nearest: "), std::string::npos) << text;
  EXPECT_NE(text.find("'MODEL?architectures="), std::string::npos) << text;
  EXPECT_EQ(refusal(R"({"architectures": ["NoSuchForCausalLM"]})").find("it runs in"),
            std::string::npos);
}

TEST(Architecture, RefusesMoreLayersThanAnyModelHas) {
  EXPECT_NE(refusal(small_llama(R"("num_hidden_layers": 1073741824,)")).find("at most 4096"),
            std::string::npos);
}

TEST(Architecture, RefusesSizesWhoseProductCannotBeCounted) {
  const std::string text = refusal(R"({"model_type": "llama", "vocab_size": 1073741824,
      "hidden_size": 1073741824, "intermediate_size": 1073741824, "num_hidden_layers": 2,
      "num_attention_heads": 1})");
  EXPECT_NE(text.find("config.json: "), std::string::npos) << text;
  EXPECT_NE(text.find("more than 2^58 elements"), std::string::npos) << text;
}

TEST(Architecture, RefusesHeadsThatDoNotDivideAndListsThatDoNotFit) {
  EXPECT_NE(refusal(R"({"model_type": "llama", "vocab_size": 100, "hidden_size": 64,
      "intermediate_size": 128, "num_attention_heads": 5, "num_hidden_layers": 2})")
                .find("found 5, expected a divisor of hidden_size (64)"),
            std::string::npos);
  const auto gemma = [](std::string_view types) {
    return refusal(fmt::format(R"({{"model_type": "gemma2", "vocab_size": 100, "hidden_size": 64,
        "intermediate_size": 128, "num_attention_heads": 4, "num_hidden_layers": 2,
        "layer_types": {}}})",
                               types));
  };
  EXPECT_NE(gemma(R"(["full_attention"])").find("found 1 types, expected one for each of 2"),
            std::string::npos);
  EXPECT_NE(gemma(R"(["full_attention", "half"])").find("found 'half', expected one of"),
            std::string::npos);
}

/// transformers refuses them, or builds encoders that cannot run: 11 heads of 5 dimensions give 55
/// of 64.
TEST(Architecture, RefusesHeadsThatDoNotDivideInEncoders) {
  for (const std::string name : {"BertModel", "AlbertModel", "RoFormerModel", "ElectraModel"}) {
    const std::string json = fmt::format(
        R"({{"architectures": ["{}"], "vocab_size": 100, "hidden_size": 64, "embedding_size": 16,
             "intermediate_size": 128, "num_attention_heads": 11, "num_hidden_layers": 2}})",
        name);
    EXPECT_NE(refusal(json).find("found 11, expected a divisor of hidden_size (64)"),
              std::string::npos)
        << refusal(json);
  }
  EXPECT_NE(refusal(R"({"model_type": "dbrx", "vocab_size": 100, "d_model": 64, "n_heads": 11,
                        "n_layers": 2, "attn_config": {"kv_n_heads": 1}, "ffn_config":
                        {"ffn_hidden_size": 64, "moe_num_experts": 4, "moe_top_k": 2}})")
                .find("found 11, expected a divisor of d_model (64)"),
            std::string::npos);
}

TEST(Architecture, RefusesFactorsThatGiveNoWidth) {
  const auto lfm = [](std::string_view factor) {
    return refusal(fmt::format(R"({{"architectures": ["Lfm2ForCausalLM"], "model_type": "lfm2",
        "vocab_size": 100, "hidden_size": 64, "block_ff_dim": 192, "num_attention_heads": 4,
        "num_hidden_layers": 2, "full_attn_idxs": [1], "block_ffn_dim_multiplier": {}}})",
                               factor));
  };
  EXPECT_EQ(lfm("1.0"), "nothing thrown");
  for (const std::string factor : {"-0.5", "0", "1e-9", "1e300"})
    EXPECT_EQ(lfm(factor),
              "config.json: key 'block_ffn_dim_multiplier': gives no width of a layer");
  EXPECT_EQ(refusal(R"({"architectures": ["MambaForCausalLM"], "model_type": "mamba",
      "hidden_size": 64, "vocab_size": 100, "num_hidden_layers": 2, "expand": -2})"),
            "config.json: key 'expand': gives no width of a layer");
}

TEST(Architecture, RefusesUnknownTypesOfRecurrentStates) {
  const auto type_of = [](std::string_view type) {
    return state_type(parse_config(fmt::format(R"({{"mamba_ssm_dtype": "{}"}})", type), "m.json"),
                      "mamba_ssm_dtype");
  };
  EXPECT_EQ(type_of("float32"), StateType::fp32);
  for (const std::string type : {"float16", "bfloat16", "auto"})
    EXPECT_EQ(type_of(type), StateType::as_computed) << type;
  try {
    type_of("float32x");
    ADD_FAILURE() << "accepted";
  } catch (const ConfigError& e) {
    EXPECT_EQ(std::string(e.what()),
              "m.json: key 'mamba_ssm_dtype': found 'float32x', expected float32, float16, "
              "bfloat16 or auto");
  }
}

TEST(Architecture, EveryRowIsThereOnce) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const auto& row : architectures()) {
    EXPECT_TRUE(seen.emplace(row.name, row.model_type).second) << row.name;
    EXPECT_NE(row.describe, nullptr);
  }
}

}  // namespace
}  // namespace headroom::model
