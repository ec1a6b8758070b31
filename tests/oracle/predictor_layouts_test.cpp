// Modules that predict further tokens: their elements, summed by hand over the tensors that the
// engines' classes create for a small config. W: hidden size, F: feed-forward, V: vocabulary.
#include <gtest/gtest.h>

#include "model/checkpoint/model.hpp"

namespace headroom::oracle {
namespace {

constexpr Size W = 64, F = 96, V = 100;
/// Four heads of 16, two of keys and values; one token further.
constexpr std::string_view common =
    R"("hidden_size": 64, "vocab_size": 100, "intermediate_size": 96, "num_attention_heads": 4,
       "num_key_value_heads": 2, "head_dim": 16, "num_nextn_predict_layers": 1, )";
constexpr Size attention = 2 * W * 64 + 2 * W * 32, mlp = 3 * W * F;
constexpr Size projection = 2 * W * W, two_norms = 2 * W;

model::MultiTokenPrediction predictor(std::string_view name, std::string_view type,
                                      std::string_view keys) {
  const std::string json = R"({"architectures": [")" + std::string(name) +
                           R"("], "model_type": ")" + std::string(type) + R"(", )" +
                           std::string(common) + std::string(keys) + "}";
  return model::make_model("m", model::parse_config(json, "m"), "test").multi_token_prediction;
}

Size elements(const model::MultiTokenPrediction& further) {
  Size sum = 0;
  for (const model::Tensor& t : further.part.tensors)
    if (t.is_parameter()) sum += t.elements();
  return sum;
}

/// vLLM ernie_mtp.py: two norms, the projection, one dense layer; no norm after it.
TEST(PredictorLayouts, Ernie) {
  const auto further = predictor("Ernie4_5_MoeForCausalLM", "ernie4_5_moe",
                                 R"("num_hidden_layers": 2, "moe_num_experts": 4, "moe_k": 2,
                                    "moe_intermediate_size": 32)");
  EXPECT_EQ(elements(further), two_norms + projection + attention + mlp + two_norms);
  EXPECT_FALSE(further.source.empty());
}

/// vLLM exaone_moe_mtp.py: a dense layer with norms of heads, although the last of the model is a
/// mixture; three norms and a projection for all.
TEST(PredictorLayouts, ExaoneIsDense) {
  const auto further = predictor("ExaoneMoeForCausalLM", "exaone_moe",
                                 R"("num_hidden_layers": 2, "num_experts": 4,
                                    "num_experts_per_tok": 2, "moe_intermediate_size": 32,
                                    "mlp_layer_types": ["dense", "sparse"], "layer_types":
                                    ["sliding_attention", "full_attention"])");
  EXPECT_EQ(elements(further), attention + 2 * 16 + mlp + two_norms + 3 * W + projection);
}

/// SGLang qwen3_moe_mtp.py: the model's own kind of layer, here 4 experts of 32.
TEST(PredictorLayouts, Qwen3Mixture) {
  const auto further = predictor("Qwen3MoeForCausalLM", "qwen3_moe",
                                 R"("num_hidden_layers": 2, "num_experts": 4,
                                    "num_experts_per_tok": 2, "moe_intermediate_size": 32)");
  EXPECT_EQ(elements(further),
            attention + 2 * 16 + 4 * W + 4 * 3 * W * 32 + two_norms + 3 * W + projection);
}

/// vLLM mimo_v2_mtp.py: attention behind a window with its own heads (keys of 16, values of 8) and
/// a sink for each, a dense feed-forward, five norms.
TEST(PredictorLayouts, MiMoLooksBehindAWindow) {
  const auto further = predictor("MiMoV2FlashForCausalLM", "mimo_v2_flash",
                                 R"("num_hidden_layers": 2, "n_routed_experts": 4,
                                    "num_experts_per_tok": 2, "moe_intermediate_size": 32,
                                    "v_head_dim": 8, "swa_num_key_value_heads": 4,
                                    "sliding_window": 32)");
  const Size behind = W * 64 + W * 4 * 16 + W * 4 * 8 + 4 * 8 * W + 4;
  EXPECT_EQ(elements(further), behind + mlp + 5 * W + projection);
  ASSERT_EQ(further.part.caches.size(), 1U);
  EXPECT_EQ(further.part.caches[0].window, 32);
}

/// vLLM step3p5_mtp.py: a layer with gated heads, whose kind is listed after the model's, and a
/// head of its own.
TEST(PredictorLayouts, StepHasAHeadOfItsOwn) {
  constexpr std::string_view sizes =
      R"("num_hidden_layers": 2, "n_routed_experts": 4, "num_experts_per_tok": 2,
         "moe_intermediate_size": 32, "share_expert_dim": 32, "sliding_window": 32,
         "num_sliding_attention_heads": 8, )";
  const auto further =
      predictor("Step3p5ForCausalLM", "step3p5",
                std::string(sizes) +
                    R"("layer_types": ["full_attention", "full_attention", "sliding_attention"])");
  const Size sliding = 2 * W * 8 * 16 + 2 * W * 32 + 2 * 16 + 8 * W;
  EXPECT_EQ(elements(further), sliding + mlp + two_norms + two_norms + projection + W + V * W);
  const auto unsaid =
      predictor("Step3p5ForCausalLM", "step3p5",
                std::string(sizes) + R"("layer_types": ["full_attention", "full_attention"])");
  EXPECT_EQ(unsaid.modules, 1);
  EXPECT_TRUE(unsaid.part.tensors.empty());
  EXPECT_TRUE(unsaid.source.empty());
}

/// vLLM glm_ocr_mtp.py: one more dense layer of GLM-4 with its four norms, three norms of the
/// module, and names for copies of embedding and head.
TEST(PredictorLayouts, GlmOcr) {
  const auto further = predictor("GlmOcrForConditionalGeneration", "glm_ocr",
                                 std::string(R"("text_config": {"model_type": "glm_ocr_text", )") +
                                     std::string(common) + R"("num_hidden_layers": 2}, )" +
                                     R"("vision_config": {"hidden_size": 64, "depth": 1})");
  EXPECT_EQ(elements(further), attention + mlp + 4 * W + 3 * W + projection + 2 * V * W);
}

/// vLLM models/qwen4_exp/nvidia/mtp.py: gated attention with an indexer, a mixture, gates on two
/// residual streams, and a projection for each input.
TEST(PredictorLayouts, Qwen4ExpProjectsEachStream) {
  constexpr Size streams = 2 * W, gates = streams + 2 * 8 * streams;
  const auto further = predictor(
      "Qwen4ExpForCausalLM", "qwen4_exp_text",
      R"("num_hidden_layers": 4, "num_experts": 4, "num_experts_per_tok": 2, "hc_count": 2,
         "hc_lowrank": 8, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32,
         "indexer_compress_ratio": 4, "indexer_n_heads": 2, "indexer_head_dim": 16,
         "indexer_kv_heads": 1, "indexer_budget": 8, "linear_num_key_heads": 2,
         "linear_num_value_heads": 2, "linear_key_head_dim": 16, "linear_value_head_dim": 16)");
  const Size indexer = 3 * W * 16 + 2 * 16, mixture = 4 * W + 5 * 3 * W * 32 + W;
  EXPECT_EQ(elements(further), attention + W * 64 + 2 * 16 + indexer + mixture +
                                   2 * (gates + 2 * streams) + gates + W + streams + projection);
}

/// vLLM models/step5/nvidia/mtp.py: a dense layer, whose kind is listed after the model's, and a
/// head of its own.
TEST(PredictorLayouts, Step5IsDense) {
  constexpr std::string_view sizes =
      R"("num_hidden_layers": 2, "num_attention_groups": 2, "moe_num_experts": 4, "moe_top_k": 2,
         "moe_intermediate_size": 32, "share_expert_dim": 32, "moe_layers_enum": "1",
         "sliding_window": 32, "layer_types": ["sliding_attention", "full_attention"])";
  const auto further = predictor(
      "Step5ForCausalLM", "step5",
      std::string(sizes) +
          R"(, "layer_types_with_mtp": ["sliding_attention", "full_attention", "sliding_attention"])");
  EXPECT_EQ(elements(further), attention + 2 * 16 + mlp + 5 * W + projection + V * W);
  ASSERT_EQ(further.part.caches.size(), 1U);
  EXPECT_EQ(further.part.caches[0].window, 32);
  EXPECT_TRUE(predictor("Step5ForCausalLM", "step5", sizes).part.tensors.empty());
}

/// A file that leaves out what its class assumes holds the modules of one that states it. Defaults:
/// transformers 5.24, LongcatFlashConfig, Ernie4_5_MoeConfig, NemotronHConfig, GlmOcrTextConfig and
/// DeepseekV3Config.
struct LeftOut {
  std::string_view name, type, keys, defaults;
};
constexpr LeftOut left_out[] = {
    {"LongcatFlashForCausalLM", "longcat_flash",
     R"("num_layers": 2, "ffn_hidden_size": 96, "expert_ffn_hidden_size": 32, "hidden_size": 64,
        "num_attention_heads": 4, "vocab_size": 100)",
     R"(, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
        "v_head_dim": 128)"},
    {"Ernie4_5_MoeForCausalLM", "ernie4_5_moe",
     R"("num_hidden_layers": 2, "hidden_size": 80, "intermediate_size": 96, "vocab_size": 100,
        "num_attention_heads": 20, "num_nextn_predict_layers": 2)",
     R"(, "num_key_value_heads": 4)"},
    {"NemotronHForCausalLM", "nemotron_h",
     R"("num_hidden_layers": 2, "hybrid_override_pattern": "M*", "hidden_size": 64,
        "vocab_size": 100, "intermediate_size": 96, "num_attention_heads": 16,
        "num_nextn_predict_layers": 2, "mtp_hybrid_override_pattern": "*E")",
     R"(, "num_key_value_heads": 8, "head_dim": 128, "n_routed_experts": 8,
        "moe_intermediate_size": 7688, "moe_shared_expert_intermediate_size": 7688)"},
    {"GlmOcrForConditionalGeneration", "glm_ocr",
     R"("vision_config": {"hidden_size": 64, "depth": 1}, "text_config": {"hidden_size": 64,
        "model_type": "glm_ocr_text", "num_attention_heads": 16, "num_nextn_predict_layers": 1)",
     R"(, "num_hidden_layers": 16, "num_key_value_heads": 8, "vocab_size": 59392)"},
    {"KimiK25ForConditionalGeneration", "kimi_k25",
     R"("text_config": {"model_type": "deepseek_v3", "hidden_size": 64, "vocab_size": 100,
        "num_nextn_predict_layers": 1)",
     R"(, "num_hidden_layers": 61)"},
};

TEST(PredictorLayouts, WhatAFileLeavesOutIsAsItsClassAssumes) {
  for (const LeftOut& row : left_out) {
    SCOPED_TRACE(row.name);
    const std::string end = row.keys.find("text_config") == row.keys.npos ? "}" : "}}";
    const auto modules = [&](std::string_view stated) {
      const std::string json = R"({"architectures": [")" + std::string(row.name) +
                               R"("], "model_type": ")" + std::string(row.type) + R"(", )" +
                               std::string(row.keys) + std::string(stated) + end;
      return model::make_model("m", model::parse_config(json, "m"), "test").multi_token_prediction;
    };
    const auto brief = modules(""), full = modules(row.defaults);
    EXPECT_GT(elements(full), 0);
    EXPECT_EQ(brief.modules, full.modules);
    EXPECT_EQ(elements(brief), elements(full));
  }
}

}  // namespace
}  // namespace headroom::oracle
