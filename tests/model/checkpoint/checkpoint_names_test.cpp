// Lists of modules that name them as checkpoints do, for classes with other names in memory.
#include "model/checkpoint/checkpoint_names.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/checkpoint/quantisation/checkpoint_bytes.hpp"
#include "model/describe/config.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

constexpr Size m3_hidden = 64, m3_inner = 32, m3_dense = 96, m3_experts = 4, index_rows = 2 * 16;

/// MiniMax-M3 with a dense layer and a layer of experts. `quantisation` is its config's section.
Model minimax_m3(const std::string& quantisation) {
  const std::string text = fmt::format(
      R"({{"architectures": ["MiniMaxM3SparseForConditionalGeneration"],
      "model_type": "minimax_m3_vl", "torch_dtype": "bfloat16", "text_config": {{
      "hidden_size": {}, "intermediate_size": {}, "num_hidden_layers": 2,
      "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 32, "vocab_size": 128,
      "dense_intermediate_size": {}, "shared_intermediate_size": {}, "num_local_experts": {},
      "num_experts_per_tok": 2, "moe_layer_freq": [0, 1], "sparse_attention_config": {{
      "sparse_index_dim": 16, "sparse_num_index_heads": 2, "sparse_attention_freq": [0, 1]}}}},
      "vision_config": {{"hidden_size": 64, "num_attention_heads": 2, "num_hidden_layers": 1,
      "intermediate_size": 64, "patch_size": 14, "image_size": 28}},
      "projector_hidden_size": 64{}}})",
      m3_hidden, m3_inner, m3_dense, m3_inner, m3_experts, quantisation);
  return make_model("m3", parse_config(text, "config.json"), "test");
}

/// A config like that of nvidia/MiniMax-M3-NVFP4: each module by the name that its files have.
std::string listed(const std::vector<std::pair<std::string, std::string>>& modules) {
  std::string list;
  for (const auto& [name, algorithm] : modules)
    list += fmt::format(R"({}"language_model.model.layers.{}":{{"quant_algo":"{}"}})",
                        list.empty() ? "" : ",", name, algorithm);
  return fmt::format(R"(,"quantization_config":{{"quant_method":"modelopt",
      "quant_algo":"MIXED_PRECISION","quantized_layers":{{{}}}}})",
                     list);
}

std::vector<std::pair<std::string, std::string>> expert_modules() {
  std::vector<std::pair<std::string, std::string>> all;
  for (Size i = 0; i < m3_experts; ++i)
    for (const char* name : {"w1", "w2", "w3"})
      all.emplace_back(fmt::format("1.block_sparse_moe.experts.{}.{}", i, name), "NVFP4");
  return all;
}

/// Bytes saved by MXFP8 (33 bytes for 32 elements) and NVFP4 (9 for 16, and two fp32 scales).
Size saved_by_mxfp8(Size elements) { return 2 * elements - elements / 32 * 33; }
Size saved_by_experts() {
  const Size each = m3_hidden * m3_inner;
  return m3_experts * 3 * (2 * each - each / 16 * 9 - 8);
}

TEST(CheckpointNames, OfModuleListsBecomeThoseOfTheClass) {
  const Size whole = checkpoint_bytes(minimax_m3("")).count();
  auto modules = expert_modules();
  EXPECT_EQ(checkpoint_bytes(minimax_m3(listed(modules))).count(), whole - saved_by_experts());
  for (const char* name :
       {"0.mlp.gate_proj", "0.mlp.up_proj", "0.mlp.down_proj",
        "1.block_sparse_moe.shared_experts.gate_proj", "1.block_sparse_moe.shared_experts.up_proj",
        "1.block_sparse_moe.shared_experts.down_proj", "1.self_attn.index_q_proj",
        "0.self_attn.o_proj"})
    modules.emplace_back(name, "MXFP8");
  EXPECT_EQ(checkpoint_bytes(minimax_m3(listed(modules))).count(),
            whole - saved_by_experts() - saved_by_mxfp8(3 * m3_hidden * m3_dense) -
                saved_by_mxfp8(3 * m3_hidden * m3_inner) - saved_by_mxfp8(m3_hidden * index_rows) -
                saved_by_mxfp8(m3_hidden * 64));
}

TEST(CheckpointNames, AJoinedMatrixNeedsAllItsParts) {
  auto modules = expert_modules();
  modules.emplace_back("0.mlp.down_proj", "MXFP8");
  const Size without = checkpoint_bytes(minimax_m3(listed(modules))).count();
  modules.emplace_back("0.mlp.gate_proj", "MXFP8");
  EXPECT_EQ(checkpoint_bytes(minimax_m3(listed(modules))).count(), without);
}

TEST(CheckpointNames, ThatNoModuleHasAreAnError) {
  EXPECT_THROW(minimax_m3(listed({{"1.sparse_block.experts.0.w1", "NVFP4"}})), ConfigError);
}

TEST(CheckpointNames, OfOtherClassesStay) {
  const std::vector<std::string> names = {"model.layers.0.block_sparse_moe.gate"};
  EXPECT_EQ(names_in_memory("granitemoe", names), names);
  EXPECT_EQ(names_in_memory("mixtral", names), std::vector<std::string>{"model.layers.0.mlp.gate"});
}

}  // namespace
}  // namespace headroom::model
