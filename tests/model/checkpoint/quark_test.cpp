// AMD Quark's configs: the specification of each module, and what is refused. Bytes are compared
// with Quark's own files in tests/oracle/exports_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "tests/model/checkpoint/small_llama.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

constexpr std::string_view mxfp4 =
    R"("dtype":"fp4","qscheme":"per_group","group_size":32,"scale_format":"e8m0")";
constexpr std::string_view fp8 = R"("dtype":"fp8_e4m3","qscheme":"per_tensor")";

Model quark(std::string_view weight, std::string_view more = "") {
  return small_model(llama_config(2, fmt::format(R"({{"quant_method":"quark","exclude":["lm_head"],
                     "global_quant_config":{{"weight":{{{}}}}}{}}})",
                                                 weight, more)));
}

/// Bytes of the tensor of that name.
std::int64_t bytes_of(const Model& model, std::string_view name) {
  const std::vector<Bytes> all = quantised_bytes(model, scheme(model.checkpoint_scheme));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (model.part.tensors[i].name == name) return all[i].count();
  ADD_FAILURE() << name;
  return 0;
}

constexpr std::int64_t q_elements = 256 * 256, down_elements = 256 * 512;
constexpr std::string_view q0 = "model.layers.0.self_attn.q_proj.weight",
                           q1 = "model.layers.1.self_attn.q_proj.weight",
                           down = "model.layers.0.mlp.down_proj.weight";

TEST(Quark, TakesTheFirstRuleThatMatchesAModule) {
  const Model model = quark(mxfp4, fmt::format(R"(,"layer_quant_config":{{
      "*self_attn*":{{"weight":{{{}}}}},"model.layers.1.self_attn.q_proj":{{"weight":null}}}})",
                                               fp8));
  EXPECT_EQ(bytes_of(model, down), down_elements / 2 + down_elements / 32);
  EXPECT_EQ(bytes_of(model, q0), q_elements + 2);
  EXPECT_EQ(bytes_of(model, q1), 2 * q_elements) << "whole names come before wildcards";
}

/// fnmatch: a question mark is any character, brackets are a set.
TEST(Quark, ReadsShellPatterns) {
  const Model model = quark(mxfp4, fmt::format(R"(,"layer_quant_config":{{
      "*layers.[1-9].self_attn.?_proj":{{"weight":{{{}}}}}}})",
                                               fp8));
  EXPECT_EQ(bytes_of(model, q0), q_elements / 2 + q_elements / 32);
  EXPECT_EQ(bytes_of(model, q1), q_elements + 2);
}

TEST(Quark, RefusesWhatChangesBytesInAnUnknownWay) {
  const std::pair<Model (*)(), std::string_view> cases[] = {
      {[] { return quark(R"("dtype":"fp4","qscheme":"per_group","group_size":64)"); },
       "found 'fp4 per_group 64'"},
      {[] { return quark(R"("dtype":"fp8_e4m3","qscheme":"per_channel","ch_axis":1)"); },
       "per_channel of inputs"},
      {[] { return quark(R"("dtype":"fp8_e4m3","qscheme":"per_block","block_size":[64,64])"); },
       "block_size"},
      {[] { return quark(fp8, R"(,"export":{"weight_format":"fake_quantized"})"); },
       "weight_format"},
      {[] { return quark(fp8, R"(,"layer_type_quant_config":{"Embedding":{}})"); }, "Embedding"},
  };
  for (const auto& [read, word] : cases) try {
      read();
      ADD_FAILURE() << word;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
}

TEST(Quark, LoadsUnderEnginesThatReadItsFiles) {
  const auto refusal = [](const Model& model, std::string_view name, std::string_view card) {
    return loading_refusal(model, scheme(model.checkpoint_scheme), engine(name),
                           parse_machine(std::string(card), shipped_catalogue()));
  };
  const Model eight = quark(fp8), four = quark(mxfp4);
  const Model integers = quark(R"("dtype":"int4","qscheme":"per_group","group_size":128)");
  EXPECT_EQ(refusal(eight, "vllm", "mi300x"), "");
  EXPECT_EQ(refusal(four, "sglang", "mi355x"), "");
  EXPECT_EQ(refusal(integers, "transformers", "mi300x"), "");
  EXPECT_EQ(refusal(integers, "vllm", "mi300x"), "it loads no checkpoints of quark_int4");
  EXPECT_EQ(refusal(four, "llama.cpp", "mi300x"), "it loads no checkpoints of quark");
  EXPECT_EQ(refusal(eight, "tensorrt-llm", "h100-sxm-80gb"), "it loads no checkpoints of quark");
}

}  // namespace
}  // namespace headroom::model
